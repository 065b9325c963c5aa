import { Fault, need } from './fault.ts';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [member: string]: Json };

const bytesMax = 8 * 1024 * 1024; // 1.3
const levelsMax = 64;
const valuesMax = 200_000;
const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const loneSurrogate = /\p{Cs}/u;
const blanks = ' \t\n\r';
const words: readonly (readonly [string, Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/** Reads one line as I-JSON. Throws `MALFORMED` or `TOO_LARGE`. */
export function parseStrict(text: string): Json {
  need(Buffer.byteLength(text) <= bytesMax, 'TOO_LARGE', '1.3');
  need(!loneSurrogate.test(text), 'MALFORMED', '1.1');
  return new Reader(text).line();
}

/** The canonical JSON (RFC 8785) of a strictly parsed value. `undefined` members are left out. */
export function canonical(value: Json | undefined): string {
  if (value === undefined || value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

/** Whether the value is an object and not an array. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

class Reader {
  readonly #text: string;
  #at = 0;
  #levels = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  line(): Json {
    const value = this.#value();
    this.#skipBlanks();
    need(this.#at === this.#text.length, 'MALFORMED', '1.1');
    return value;
  }

  #value(): Json {
    this.#skipBlanks();
    const first = this.#text[this.#at];
    if (first === '{') return this.#within(() => this.#object());
    if (first === '[') return this.#within(() => this.#array());
    if (first === '"') return this.#string();
    for (const [word, value] of words)
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    return this.#number();
  }

  #within<T>(read: () => T): T {
    this.#count();
    this.#levels += 1;
    need(this.#levels <= levelsMax, 'MALFORMED', '1.3');
    this.#at += 1;
    const container = read();
    this.#levels -= 1;
    return container;
  }

  #object(): JsonObject {
    const members: JsonObject = {};
    if (this.#closes('}')) return members;
    do {
      this.#skipBlanks();
      const name = this.#string();
      need(name !== '__proto__' && !Object.hasOwn(members, name), 'MALFORMED', '1.1');
      this.#skipBlanks();
      need(this.#text[this.#at] === ':', 'MALFORMED', '1.1');
      this.#at += 1;
      members[name] = this.#value();
    } while (this.#goesOn('}'));
    return members;
  }

  #array(): Json[] {
    const items: Json[] = [];
    if (this.#closes(']')) return items;
    do items.push(this.#value());
    while (this.#goesOn(']'));
    return items;
  }

  #closes(end: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#at] !== end) return false;
    this.#at += 1;
    return true;
  }

  #goesOn(end: string): boolean {
    if (this.#closes(end)) return false;
    need(this.#text[this.#at] === ',', 'MALFORMED', '1.1');
    this.#at += 1;
    this.#count();
    return true;
  }

  #string(): string {
    const start = this.#at;
    need(this.#text[start] === '"', 'MALFORMED', '1.1');
    this.#at += 1;
    while (this.#text[this.#at] !== '"') {
      need(this.#at < this.#text.length, 'MALFORMED', '1.1');
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
    }
    this.#at += 1;
    const value = parsedString(this.#text.slice(start, this.#at));
    need(!loneSurrogate.test(value), 'MALFORMED', '1.1');
    return value;
  }

  #number(): number {
    numberForm.lastIndex = this.#at;
    const digits = numberForm.exec(this.#text)?.[0];
    need(digits !== undefined, 'MALFORMED', '1.1');
    this.#at += digits.length;
    const value = Number(digits);
    need(Number.isFinite(value), 'MALFORMED', '1.1');
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) need(isNearestItself(digits, value), 'MALFORMED', '1.2');
    return value;
  }

  #skipBlanks(): void {
    while (this.#at < this.#text.length && blanks.includes(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #count(): void {
    this.#values += 1;
    need(this.#values <= valuesMax, 'TOO_LARGE', '1.3');
  }
}

function parsedString(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw new Fault('MALFORMED', '1.1');
  }
}

/** Whether a written integer equals its binary64 value. `false` for numbers with a fraction. */
function isNearestItself(written: string, value: number): boolean {
  const [mantissa = '', exponent = '0'] = written.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  const shift = Number(exponent) - fraction.length;
  if (shift >= 0) return BigInt(digits) * 10n ** BigInt(shift) === BigInt(value);
  if (!/^0*$/.test(digits.slice(shift))) return true;
  return BigInt(digits.slice(0, shift)) === BigInt(value);
}
