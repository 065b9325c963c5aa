/** A position in a text that is read from left to right. */
export class CanonicalCursor {
  readonly text: string;
  at = 0;
  /** The number of containers around the position, without those of a schema. */
  depth = 0;
  /** The last ranges of the marked members. */
  readonly ranges: (Range | undefined)[] = [];

  constructor(text: string) {
    this.text = text;
  }
}

/** The range of a value in a text. `end` is exclusive. */
export type Range = { start: number; end: number };

/**
 * Reads the value at the cursor, and moves the cursor behind it. `undefined` for a text that is not canonical (RFC
 * 8785), that `parseStrictJson` refuses, or that only the general parser can read.
 */
export type CanonicalReader = (cursor: CanonicalCursor) => unknown;

const quoteCode = 0x22;
const minusCode = 0x2d;
const pointCode = 0x2e;
const zeroCode = 0x30;
const nineCode = 0x39;
const backslashCode = 0x5c;
/** `JSON.parse` reads every integer of at most 15 digits without loss. */
const safeDigits = 15;
/** Below the depth that lines may have, since a schema has a few levels above a plain value. */
const plainDepthMax = 48;

// eslint-disable-next-line no-control-regex -- RFC 8785 §3.2.2.2 escapes exactly these
const escaped = /[\\\u0000-\u001f]/;
const escapedSurrogate = /\\u[dD]/;

/** Like `startsWith`, which compares one character after another and takes 30 times as long for a long word. */
export function hasWord(text: string, word: string, at: number): boolean {
  return text.slice(at, at + word.length) === word;
}

/** Moves the cursor behind the character. `false` when another character is there. */
export function skip(cursor: CanonicalCursor, code: number): boolean {
  if (cursor.text.charCodeAt(cursor.at) !== code) return false;
  cursor.at += 1;
  return true;
}

/**
 * Reads a string. V8 keeps a whole text in memory for a slice of it. The result is therefore a slice of a short copy.
 */
export function readString(cursor: CanonicalCursor): string | undefined {
  const content = contentOf(cursor);
  if (content === undefined) return undefined;
  return escaped.test(content) ? unescaped(content) : ` ${content}`.slice(1);
}

/** The characters between two quotes. A quote after a backslash does not end them. */
function contentOf(cursor: CanonicalCursor): string | undefined {
  const { text } = cursor;
  const start = cursor.at + 1;
  if (text.charCodeAt(cursor.at) !== quoteCode) return undefined;
  let end = text.indexOf('"', start);
  while (end !== -1 && isEscaped(text, { at: end, from: start })) end = text.indexOf('"', end + 1);
  if (end === -1) return undefined;
  cursor.at = end + 1;
  return text.slice(start, end);
}

function isEscaped(text: string, { at, from }: { at: number; from: number }): boolean {
  let before = at;
  while (before > from && text.charCodeAt(before - 1) === backslashCode) before -= 1;
  return (at - before) % 2 === 1;
}

/** A canonical text escapes no surrogate, because an escaped half is not Unicode. */
function unescaped(content: string): string | undefined {
  if (escapedSurrogate.test(content)) return undefined;
  const text = `"${content}"`;
  try {
    const value = String(JSON.parse(text));
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reads an integer of at most 15 digits. Its caller refuses a fraction or an exponent behind it. */
export function readInteger(cursor: CanonicalCursor): number | undefined {
  const { text } = cursor;
  const isNegative = text.charCodeAt(cursor.at) === minusCode;
  const start = cursor.at + Number(isNegative);
  let [end, value] = [start, 0];
  for (let code = text.charCodeAt(end); code >= zeroCode && code <= nineCode; code = text.charCodeAt(end)) {
    value = value * 10 + code - zeroCode;
    end += 1;
  }
  const digits = end - start;
  const hasLeadingZero = text.charCodeAt(start) === zeroCode && (digits > 1 || isNegative);
  if (digits === 0 || digits > safeDigits || hasLeadingZero) return undefined;
  cursor.at = end;
  return isNegative ? -value : value;
}

function readNumber(cursor: CanonicalCursor): number | undefined {
  const { text, at: start } = cursor;
  let end = start;
  while (isNumberPart(text.charCodeAt(end))) end += 1;
  const literal = text.slice(start, end);
  const value = Number(literal);
  if (literal === '' || !Number.isFinite(value) || String(value) !== literal) return undefined;
  cursor.at = end;
  return value;
}

// Digits, '.', 'e', '+', '-'.
function isNumberPart(code: number): boolean {
  const isDigit = code >= zeroCode && code <= nineCode;
  return isDigit || code === pointCode || code === 0x65 || code === 0x2b || code === minusCode;
}

/** Reads any value. */
export function readPlain(cursor: CanonicalCursor): unknown {
  const code = cursor.text.charCodeAt(cursor.at);
  if (code === quoteCode) return readString(cursor);
  if (code === 0x7b) return readMembers(cursor, readPlain);
  if (code === 0x5b) return readItems(cursor, readPlain);
  if (code === 0x74) return readWord(cursor, { word: 'true', value: true });
  if (code === 0x66) return readWord(cursor, { word: 'false', value: false });
  if (code === 0x6e) return readWord(cursor, { word: 'null', value: null });
  return readNumber(cursor);
}

export function readWord(cursor: CanonicalCursor, { word, value }: { word: string; value: unknown }): unknown {
  if (!hasWord(cursor.text, word, cursor.at)) return undefined;
  cursor.at += word.length;
  return value;
}

/** Reads an object with any names. They must rise, so no name can occur twice. */
export function readMembers(cursor: CanonicalCursor, read: CanonicalReader): Record<string, unknown> | undefined {
  const value: Record<string, unknown> = {};
  if (cursor.depth >= plainDepthMax || !skip(cursor, 0x7b)) return undefined;
  if (skip(cursor, 0x7d)) return value;
  cursor.depth += 1;
  let before: string | null = null;
  do {
    const name = readString(cursor);
    if (name === undefined || name === '__proto__' || (before !== null && name <= before)) return undefined;
    const item = skip(cursor, 0x3a) ? read(cursor) : undefined;
    if (item === undefined) return undefined;
    value[name] = item;
    before = name;
  } while (skip(cursor, 0x2c));
  cursor.depth -= 1;
  return skip(cursor, 0x7d) ? value : undefined;
}

/** Reads an array. */
export function readItems(
  cursor: CanonicalCursor,
  read: (cursor: CanonicalCursor, place: number) => unknown,
): unknown[] | undefined {
  const items: unknown[] = [];
  if (cursor.depth >= plainDepthMax || !skip(cursor, 0x5b)) return undefined;
  if (skip(cursor, 0x5d)) return items;
  cursor.depth += 1;
  do {
    const item = read(cursor, items.length);
    if (item === undefined) return undefined;
    items.push(item);
  } while (skip(cursor, 0x2c));
  cursor.depth -= 1;
  return skip(cursor, 0x5d) ? items : undefined;
}
