import { CryptoError } from './crypto-error.ts';
import { forbiddenMember, jsonDepthMax, jsonPointer } from './json-value.ts';
import type { JsonValue } from './json-value.ts';

type Path = readonly (string | number)[];
const atRoot: Path = [];

interface Walk {
  root: unknown;
  depthMax: number;
  /** Steps from the root to the value in hand; its length is the depth. */
  path: (string | number)[];
  /** The text written so far. One growing text: the pieces of every level would be as many short-lived strings. */
  text: string;
}

// Control characters, quote, backslash and any surrogate: a string without them is its own escaped form.
// eslint-disable-next-line no-control-regex -- RFC 8785 §3.2.2.2 escapes exactly these
const needsCare = /["\\\u0000-\u001f\ud800-\udfff]/;
// With the u flag a well-formed pair is one code point above U+FFFF, so only lone surrogates match.
const loneSurrogate = /[\ud800-\udfff]/u;
const encoder = new TextEncoder();

/**
 * The RFC 8785 (JCS) text of a value. Gate and serialisation are one pass, so nothing is signed that the gate did not see.
 * `parseStrictJson` reads all of it again: what is sealed can be read.
 * Throws {@link CryptoError} under the same conditions as {@link parsePlainJson}.
 */
export function canonicalize(value: JsonValue, limits: { depthMax?: number } = {}): string {
  return write(value, limits.depthMax ?? jsonDepthMax);
}

/** {@link canonicalize} of one string, for texts that are put together member by member. */
export function canonicalString(value: string): string {
  if (typeof value !== 'string') throw fault(atRoot, 'NOT_PLAIN_JSON', `${typeof value} is not a string`);
  return quoted(value, atRoot);
}

/** {@link canonicalize} of one number. */
export function canonicalNumber(value: number): string {
  return numberText(value, atRoot);
}

/** UTF-8 bytes of {@link canonicalize}: the bytes that are hashed and signed. */
export function canonicalBytes(value: JsonValue): Uint8Array {
  return encoder.encode(canonicalize(value));
}

/**
 * Returns the same value, now known to be plain JSON: what is read from it is exactly what {@link canonicalize} writes.
 * Throws {@link CryptoError}: `NOT_PLAIN_JSON` (undefined, function, symbol, bigint, hole, class instance, cycle),
 * `NUMBER_NOT_FINITE`, `LONE_SURROGATE` (member names too), `FORBIDDEN_MEMBER` (`__proto__`), `NESTING_TOO_DEEP` (default 64), each
 * with the member's path.
 */
export function parsePlainJson(value: unknown, limits: { depthMax?: number } = {}): JsonValue {
  write(value, limits.depthMax ?? jsonDepthMax);
  return value as JsonValue; // the walk above has just established it
}

function write(value: unknown, depthMax: number): string {
  const walk: Walk = { root: value, depthMax, path: [], text: '' };
  writeValue(value, walk);
  return walk.text;
}

function writeValue(value: unknown, walk: Walk): void {
  switch (typeof value) {
    case 'string':
      walk.text += quoted(value, walk.path);
      return;
    case 'number':
      walk.text += numberText(value, walk.path);
      return;
    case 'boolean':
      walk.text += value ? 'true' : 'false';
      return;
    case 'object':
      if (value === null) walk.text += 'null';
      else if (walk.path.length >= walk.depthMax) throw tooDeep(value, walk);
      else if (Array.isArray(value)) writeArray(value, walk);
      else writeObject(value, walk);
      return;
    default:
      throw fault(walk.path, 'NOT_PLAIN_JSON', `${typeof value} is not JSON`);
  }
}

function quoted(value: string, path: Path): string {
  // Stryker disable next-line ConditionalExpression: Speed alone: JSON.stringify quotes what needs no care alike.
  if (!needsCare.test(value)) return `"${value}"`;
  if (loneSurrogate.test(value)) throw fault(path, 'LONE_SURROGATE', 'string with a lone surrogate');
  return JSON.stringify(value); // on well-formed strings its escapes are those of RFC 8785 §3.2.2.2
}

function numberText(value: number, path: Path): string {
  if (!Number.isFinite(value)) throw fault(path, 'NUMBER_NOT_FINITE', `${value} has no JSON form`);
  return String(value); // RFC 8785 §3.2.2.3 is ECMAScript's own number to string; -0 becomes 0
}

function writeArray(value: unknown[], walk: Walk): void {
  if (!isPlainArray(value))
    throw fault(walk.path, 'NOT_PLAIN_JSON', 'array with holes, extra members or a foreign prototype');
  const { path } = walk;
  const depth = path.length;
  walk.text += '[';
  for (let index = 0; index < value.length; index += 1) {
    path[depth] = index;
    if (index > 0) walk.text += ',';
    writeValue(value[index], walk);
  }
  path.length = depth;
  walk.text += ']';
}

function writeObject(value: object, walk: Walk): void {
  if (!isPlainObject(value)) throw fault(walk.path, 'NOT_PLAIN_JSON', 'only plain objects are JSON');
  const members = value as Record<string, unknown>; // plain by the check above
  const { path } = walk;
  const depth = path.length;
  let separator = '{';
  for (const name of canonicalNames(members)) {
    path[depth] = name;
    walk.text += separator + (prefixes.get(name) ?? prefixOf(name, walk));
    writeValue(members[name], walk);
    separator = ',';
  }
  path.length = depth;
  walk.text += separator === '{' ? '{}' : '}';
}

/** Our own objects have few members and nearly stand in order; sort() costs more there than it orders. */
const insertedNamesMax = 64;

/** Comparison and the default order of sort() are that of UTF-16 code units, which RFC 8785 §3.2.3 asks for. */
function canonicalNames(members: Record<string, unknown>): string[] {
  const names = Object.keys(members);
  // Stryker disable next-line ConditionalExpression,EqualityOperator: Speed alone: both ways give the same order.
  if (names.length > insertedNamesMax) return names.sort();
  for (let index = 1; index < names.length; index += 1) insertName(names, index);
  return names;
}

/** Names before `end` are in order; moves the one at `end` to its place among them. */
function insertName(names: string[], end: number): void {
  // Stryker disable next-line StringLiteral: There is a name at every place below the length.
  const name = names[end] ?? '';
  let at = end;
  // Stryker disable next-line ConditionalExpression: undefined is greater than no name.
  // Stryker disable next-line EqualityOperator: No two names of an object are equal.
  for (let before = names[at - 1]; before !== undefined && before > name; before = names[at - 1]) {
    names[at] = before;
    at -= 1;
  }
  names[at] = name;
}

/** The same few names are written all the time. Names can be attacker-controlled, so short ones only, and not for ever. */
const prefixes = new Map<string, string>();
const prefixesMax = 1_000;
const prefixLengthMax = 64;

function prefixOf(name: string, walk: Walk): string {
  if (name === forbiddenMember) throw fault(walk.path, 'FORBIDDEN_MEMBER', 'a member may not be named __proto__');
  const prefix = `${quoted(name, walk.path)}:`;
  // Stryker disable next-line ConditionalExpression,EqualityOperator: A remembered prefix gives the same result; only
  // memory and time differ.
  if (name.length > prefixLengthMax) return prefix;
  // Stryker disable next-line ConditionalExpression,EqualityOperator: A remembered prefix gives the same result; only
  // memory and time differ.
  if (prefixes.size >= prefixesMax) prefixes.clear();
  prefixes.set(name, prefix);
  return prefix;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === null || isRootPrototype(prototype)) && Object.getOwnPropertySymbols(value).length === 0;
}

function isPlainArray(value: unknown[]): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Stryker disable next-line ConditionalExpression: Speed alone: what is asked of other realms holds here too.
  if (prototype !== Array.prototype && !(Array.isArray(prototype) && isRootPrototype(Object.getPrototypeOf(prototype))))
    return false;
  return Object.keys(value).length === value.length && Object.getOwnPropertySymbols(value).length === 0;
}

// Object.prototype of another realm (iframe, vm context) is as plain as ours.
function isRootPrototype(prototype: unknown): boolean {
  // Stryker disable next-line ConditionalExpression: Speed alone: what is asked of other realms holds of ours.
  if (prototype === Object.prototype) return true;
  return (
    typeof prototype === 'object' &&
    prototype !== null &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, 'isPrototypeOf')
  );
}

function tooDeep(value: object, walk: Walk): CryptoError {
  return isOwnAncestor(value, walk)
    ? fault(walk.path, 'NOT_PLAIN_JSON', 'value that contains itself')
    : fault(walk.path, 'NESTING_TOO_DEEP', `nesting deeper than ${walk.depthMax}`);
}

function isOwnAncestor(value: object, walk: Walk): boolean {
  let ancestor = walk.root;
  for (const step of walk.path) {
    if (ancestor === value) return true;
    ancestor = (ancestor as Record<string | number, unknown>)[step]; // the walk came this way, so it is an object
  }
  return false;
}

function fault(path: Path, code: CryptoError['code'], message: string): CryptoError {
  return new CryptoError(code, message, jsonPointer(path));
}
