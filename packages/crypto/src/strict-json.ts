import { utf8Bytes, utf8Text } from './bytes.ts';
import { CryptoError } from './crypto-error.ts';
import { forbiddenMember, jsonPointer } from './json-value.ts';
import type { JsonValue } from './json-value.ts';

interface StrictJsonLimits {
  depthMax: number;
  bytesMax: number;
  /**
   * Maximum number of values: each container counts, and each value after a comma. Without this maximum, only
   * `bytesMax` limits the number.
   */
  valuesMax?: number;
}

interface Frame {
  /** Member names read until now. `null` in an array. */
  names: Set<string> | null;
  /** The current member or element. `null` where a member name must follow. */
  step: string | number | null;
}

interface Scan {
  text: string;
  depthMax: number;
  frames: Frame[];
  /** When false, strings need no check for lone surrogates. */
  hasSurrogates: boolean;
  /** Ends of long strings by their start, so that they are found only once. */
  ends: StringEnds;
  /**
   * The number of characters that further names with escapes may have. Each such name is decoded a second time to
   * compare it.
   */
  namesLeft: number;
}

type StringEnds = ReadonlyMap<number, number>;

const loneSurrogate = /[\ud800-\udfff]/u;
const escapedSurrogate = /\\u[dD]/;
const quoteCode = 0x22;
const backslashCode = 0x5c;
const commaCode = 0x2c;
const openBraceCode = 0x7b;
const openBracketCode = 0x5b;
const escapedNamesMax = 1_048_576;
const longString = 1_024;
const nearQuotes = 16;
const walkedStretch = 4_096;
const noEnds: StringEnds = new Map();
const safeDigits = 15; // every integer of at most 15 digits is within ±(2^53 − 1)

/**
 * Parses attacker-controlled text as I-JSON (RFC 7493). Input that JSON.parse silently changes is an error, except a
 * rounded fraction of at most 17 digits. Throws {@link CryptoError}: `TOO_LARGE`, `INVALID_UTF8`, `MALFORMED_JSON`,
 * `DUPLICATE_MEMBER`, `LONE_SURROGATE` (escaped too), `NESTING_TOO_DEEP`, `TOO_MANY_VALUES`, `FORBIDDEN_MEMBER` or
 * `NUMBER_OUT_OF_RANGE`. `FORBIDDEN_MEMBER` is for `__proto__`, which schema libraries and object literals do not treat
 * as a member. `NUMBER_OUT_OF_RANGE` is for a number beyond binary64, and for a number that {@link isReadAsWritten}
 * refuses. Within its limits, the parser reads everything that `canonicalize` writes.
 */
export function parseStrictJson(input: string | Uint8Array, limits: StrictJsonLimits): JsonValue {
  if (byteLength(input, limits.bytesMax) > limits.bytesMax)
    throw new CryptoError('TOO_LARGE', `more than ${limits.bytesMax} bytes`);
  const text = typeof input === 'string' ? input : utf8Text(input);
  // Stryker disable next-line ConditionalExpression,EqualityOperator: Affects speed only: without a limit, nothing is
  // refused here.
  const ends = text.length > (limits.valuesMax ?? Infinity) ? assertFewValues(text, limits.valuesMax) : noEnds;
  const value = parseJson(text);
  // JSON.parse has checked the grammar, so the scan looks only for what JSON.parse accepts silently. Valid UTF-8 can
  // contain a surrogate only as an escape.
  // Stryker disable next-line ConditionalExpression,LogicalOperator: Affects speed only: more strings are checked.
  const hasSurrogates = escapedSurrogate.test(text) || (typeof input === 'string' && loneSurrogate.test(text));
  const namesLeft = limits.valuesMax === undefined ? Infinity : escapedNamesMax;
  scan({ text, depthMax: limits.depthMax, frames: [], hasSurrogates, ends, namesLeft });
  return value;
}

function byteLength(input: string | Uint8Array, bytesMax: number): number {
  if (typeof input !== 'string') return input.byteLength;
  // A UTF-16 code unit has one to three bytes of UTF-8. An exact count is needed only near the limit.
  // Stryker disable next-line ConditionalExpression,LogicalOperator,EqualityOperator: Affects speed only: the result is the same.
  return input.length > bytesMax || input.length * 3 <= bytesMax ? input.length : utf8Bytes(input).length;
}

/**
 * Counts values before JSON.parse builds them: building a million empty objects takes a second. The text may be invalid
 * JSON. Each container counts, and each value after a comma.
 */
function assertFewValues(text: string, valuesMax = Infinity): StringEnds {
  const ends = new Map<number, number>();
  let values = 0;
  // Stryker disable next-line EqualityOperator: The text has no character at its length.
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quoteCode) {
      const end = endOfString(text, at);
      // Stryker disable next-line ConditionalExpression,EqualityOperator,ArithmeticOperator: Affects speed only: an end
      // that is not stored is computed again.
      if (end - at > longString) ends.set(at, end);
      at = end;
    } else if (code === commaCode || code === openBraceCode || code === openBracketCode) values += 1;
    if (values > valuesMax) throw new CryptoError('TOO_MANY_VALUES', `more than ${valuesMax} values`);
  }
  return ends;
}

/**
 * The position of the closing quote, or the end of the text. Distant quotes are found with `indexOf`, near ones
 * character by character. Either method alone is several times slower for some texts.
 */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  // Stryker disable next-line EqualityOperator: The text has no character at its length.
  while (at < text.length) {
    const found = text.indexOf('"', at);
    if (found === -1) return text.length;
    if (!isEscaped(text, found, at)) return found;
    const stretchEnd = found - at < nearQuotes ? found + walkedStretch : 0;
    for (at = found + 1; at < stretchEnd && at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === quoteCode) return at;
      if (code === backslashCode) at += 1;
    }
  }
  return text.length;
}

/**
 * A quote is escaped if an odd number of backslashes precedes it. Backslashes before `from` do not count, because the
 * character at `from` is not escaped.
 */
function isEscaped(text: string, quote: number, from: number): boolean {
  let before = quote;
  // Stryker disable next-line ConditionalExpression,EqualityOperator: Characters before a run of backslashes count in
  // pairs.
  while (before > from && text.charCodeAt(before - 1) === backslashCode) before -= 1;
  // Stryker disable next-line ArithmeticOperator: The sum is odd exactly when the difference is.
  return (quote - before) % 2 === 1;
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue; // JSON.parse returns only JSON values
  } catch {
    throw new CryptoError('MALFORMED_JSON', 'text is not JSON');
  }
}

function scan(state: Scan): void {
  const { text, frames } = state;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quoteCode) {
      at = scanString(state, at);
    } else if (code === commaCode) {
      nextMember(frames.at(-1));
      at += 1;
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      at = scanNumber(state, at);
    } else {
      if (code === openBraceCode) open(state, { names: new Set(), step: null });
      else if (code === openBracketCode) open(state, { names: null, step: 0 });
      else if (code === 0x7d || code === 0x5d) frames.pop();
      at += 1;
    }
  }
}

function open(state: Scan, frame: Frame): void {
  if (state.frames.length >= state.depthMax)
    throw fault(state, 'NESTING_TOO_DEEP', `nesting deeper than ${state.depthMax}`);
  state.frames.push(frame);
}

function nextMember(frame: Frame | undefined): void {
  // Stryker disable next-line ConditionalExpression: JSON.parse accepts a comma only inside a container.
  if (frame === undefined) return;
  frame.step = typeof frame.step === 'number' ? frame.step + 1 : null;
}

/** Returns the position after the closing quote. */
function scanString(state: Scan, start: number): number {
  const { text, frames, ends } = state;
  const end = ends.get(start) ?? endOfString(text, start);
  const frame = frames.at(-1);
  const isName = frame !== undefined && frame.step === null;
  // Stryker disable next-line ConditionalExpression: Affects speed only: more strings are checked.
  if (isName || state.hasSurrogates) {
    const raw = text.slice(start + 1, end);
    const content = raw.includes('\\') ? decoded(state, raw, isName) : raw;
    if (isName) enterMember(state, frame, content);
    // The raw text is checked too: a literal half and an escaped half would decode to a pair that UTF-8 cannot encode.
    if (state.hasSurrogates && (loneSurrogate.test(content) || loneSurrogate.test(raw)))
      throw fault(state, 'LONE_SURROGATE', 'string with a lone surrogate');
  }
  return end + 1;
}

function decoded(state: Scan, raw: string, isName: boolean): string {
  if (isName) state.namesLeft -= raw.length;
  if (state.namesLeft < 0)
    throw new CryptoError('TOO_LARGE', `member names with escapes have more than ${escapedNamesMax} characters`);
  return String(JSON.parse(`"${raw}"`));
}

function enterMember(state: Scan, frame: Frame, name: string): void {
  frame.step = name;
  if (name === forbiddenMember) throw fault(state, 'FORBIDDEN_MEMBER', 'a member may not be named __proto__');
  // Stryker disable next-line OptionalChaining: Only objects have member names, and their frames have `names`.
  if (frame.names?.has(name)) throw fault(state, 'DUPLICATE_MEMBER', 'member occurs twice');
  // Stryker disable next-line OptionalChaining: Only objects have member names, and their frames have `names`.
  frame.names?.add(name);
}

/** Returns the position after the number. */
function scanNumber(state: Scan, start: number): number {
  const { text } = state;
  let end = start + 1;
  let hasExponent = false;
  for (let code = text.charCodeAt(end); isNumberPart(code); code = text.charCodeAt(end)) {
    if (code > 0x39) hasExponent = true; // of the characters in a number, only `e` and `E` are above the digits
    end += 1;
  }
  // Numbers with few digits and no exponent are read without loss, so only the others need a check.
  if (end - start > safeDigits || hasExponent) {
    const literal = text.slice(start, end);
    if (!isReadAsWritten(literal, Number(literal)))
      throw fault(state, 'NUMBER_OUT_OF_RANGE', 'number without an exact or finite binary64 value');
  }
  return end;
}

/** A fraction may have 17 digits, or the exact digits of its value. Longer fractions would lose information. */
const [fractionDigits, precisionMax] = [17, 100];

/**
 * A fraction of at most 17 digits may be rounded. A longer fraction has at most 100 digits, and must equal its value
 * written with as many digits: `0.10000000000000000555` is `0.1`. An integer must be exact in any notation. Beyond 2^53
 * − 1, only the digits that `canonicalize` writes are accepted: `1e20` is read, `9007199254740993.0` is not.
 */
function isReadAsWritten(literal: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const written = decimalOf(literal);
  if (value === 0) return written.digits === '';
  const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
  if (!isLarge && written.digits.length <= fractionDigits) return true;
  if (written.digits.length > precisionMax) return false;
  const read = decimalOf(isLarge ? String(value) : value.toPrecision(written.digits.length));
  return written.sign === read.sign && written.digits === read.digits && written.exponent === read.exponent;
}

type Decimal = { sign: string; digits: string; exponent: number };

/** Sign, digits without zeros at either end, and power of ten. Each decimal number has one such form. */
function decimalOf(literal: string): Decimal {
  // Stryker disable next-line StringLiteral: The group is part of every match. JSON.parse has refused other texts.
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    // Stryker disable next-line ArrayDeclaration: JSON.parse has refused a text without a match.
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let length = digits.length; // no regular expression: 0+$ takes quadratic time on hostile digits
  while (digits[length - 1] === '0') length -= 1;
  return {
    sign,
    digits: digits.slice(0, length),
    exponent: Number(exponent) - fraction.length + digits.length - length,
  };
}

// Digits, '.', 'e', 'E', '+', '-'.
function isNumberPart(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d
  );
}

function fault(state: Scan, code: CryptoError['code'], message: string): CryptoError {
  return new CryptoError(code, message, jsonPointer(state.frames.flatMap(({ step }) => (step === null ? [] : [step]))));
}
