import { CryptoError } from './crypto-error.ts';
import { forbiddenMember, jsonDepthMax, jsonPointer } from './json-value.ts';
import type { JsonValue } from './json-value.ts';

type Path = readonly (string | number)[];
const atRoot: Path = [];

interface Walk {
  root: unknown;
  depthMax: number;
  /** Steps from the root to the current value. Their number is the depth of the value. */
  path: (string | number)[];
  /** The text written until now. One string for all levels avoids a short-lived string for each value. */
  text: string;
}

// Control characters, quotes, backslashes and surrogates. A string without them needs no escapes.
// eslint-disable-next-line no-control-regex -- RFC 8785 §3.2.2.2 escapes exactly these
const needsCare = /["\\\u0000-\u001f\ud800-\udfff]/;
// With the `u` flag, a surrogate pair is one code point above U+FFFF, so only lone surrogates match.
const loneSurrogate = /[\ud800-\udfff]/u;
const encoder = new TextEncoder();

/**
 * The RFC 8785 (JCS) text of a value. One pass checks and serialises the value, so only checked members are signed.
 * `parseStrictJson` can read each returned text that is within its limits. Throws {@link CryptoError} under the same
 * conditions as {@link parsePlainJson}.
 */
export function canonicalize(value: JsonValue, limits: { depthMax?: number } = {}): string {
  return write(value, limits.depthMax ?? jsonDepthMax);
}

/** {@link canonicalize} of one string, for callers that assemble a text member by member. */
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
 * Returns the same value, typed as plain JSON. Reading it gives exactly the members that {@link canonicalize} writes.
 * Throws {@link CryptoError}: `NOT_PLAIN_JSON` (such as undefined, a function, a hole, a class instance or a cycle),
 * `NUMBER_NOT_FINITE`, `LONE_SURROGATE` (member names too), `FORBIDDEN_MEMBER` (`__proto__`), `NESTING_TOO_DEEP`
 * (default 64). Each error has the path of the member.
 */
export function parsePlainJson(value: unknown, limits: { depthMax?: number } = {}): JsonValue {
  write(value, limits.depthMax ?? jsonDepthMax);
  return value as JsonValue; // `write` has checked it
}

/** {@link parsePlainJson} of an object. Throws `NOT_PLAIN_JSON` for an array too. */
export function parsePlainObject(value: unknown): Record<string, JsonValue> {
  const parsed = parsePlainJson(value);
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw fault(atRoot, 'NOT_PLAIN_JSON', 'not an object');
}

/** A copy of an object as plain JSON, without its undefined members. Throws like {@link parsePlainObject}. */
export function definedMembers<Value extends object>(
  value: Value extends readonly unknown[] ? never : Value,
): Record<string, JsonValue> {
  return parsePlainObject(JSON.parse(JSON.stringify(value)));
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
  // Stryker disable next-line ConditionalExpression: Affects speed only: JSON.stringify returns the same text.
  if (!needsCare.test(value)) return `"${value}"`;
  if (loneSurrogate.test(value)) throw fault(path, 'LONE_SURROGATE', 'string with a lone surrogate');
  return JSON.stringify(value); // JSON.stringify escapes well-formed strings as RFC 8785 §3.2.2.2 requires
}

function numberText(value: number, path: Path): string {
  if (!Number.isFinite(value)) throw fault(path, 'NUMBER_NOT_FINITE', `${value} has no JSON form`);
  return String(value); // RFC 8785 §3.2.2.3 uses the number format of ECMAScript; -0 becomes 0
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
  const members = value as Record<string, unknown>; // checked above to be a plain object
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

/** Our own objects have few members in nearly sorted order. Insertion sort is faster than sort() for them. */
const insertedNamesMax = 64;

/** String comparison and sort() order by UTF-16 code units, as RFC 8785 §3.2.3 requires. */
function canonicalNames(members: Record<string, unknown>): string[] {
  const names = Object.keys(members);
  // Stryker disable next-line ConditionalExpression,EqualityOperator: Affects speed only: the order is the same.
  if (names.length > insertedNamesMax) return names.sort();
  for (let index = 1; index < names.length; index += 1) insertName(names, index);
  return names;
}

/** Moves the name at `end` to its place. The names before `end` are already sorted. */
function insertName(names: string[], end: number): void {
  // Stryker disable next-line StringLiteral: Every index below the length has a name.
  const name = names[end] ?? '';
  let at = end;
  // Stryker disable next-line ConditionalExpression: A comparison with undefined is false, so the loop ends.
  // Stryker disable next-line EqualityOperator: All names of an object are different.
  for (let before = names[at - 1]; before !== undefined && before > name; before = names[at - 1]) {
    names[at] = before;
    at -= 1;
  }
  names[at] = name;
}

/**
 * A cache, because the same few names occur in most values. Names can be attacker-controlled, so their length and
 * number are limited.
 */
const prefixes = new Map<string, string>();
const prefixesMax = 1_000;
const prefixLengthMax = 64;

function prefixOf(name: string, walk: Walk): string {
  if (name === forbiddenMember) throw fault(walk.path, 'FORBIDDEN_MEMBER', 'a member may not be named __proto__');
  const prefix = `${quoted(name, walk.path)}:`;
  // Stryker disable next-line ConditionalExpression,EqualityOperator: A cached prefix is the same text; only memory and
  // time differ.
  if (name.length > prefixLengthMax) return prefix;
  // Stryker disable next-line ConditionalExpression,EqualityOperator: A cached prefix is the same text; only memory and
  // time differ.
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
  // Stryker disable next-line ConditionalExpression: Affects speed only: the next check accepts this realm too.
  if (prototype !== Array.prototype && !(Array.isArray(prototype) && isRootPrototype(Object.getPrototypeOf(prototype))))
    return false;
  return Object.keys(value).length === value.length && Object.getOwnPropertySymbols(value).length === 0;
}

// `Object.prototype` of another realm (iframe, vm context) is accepted like the one of this realm.
function isRootPrototype(prototype: unknown): boolean {
  // Stryker disable next-line ConditionalExpression: Affects speed only: the next check accepts this realm too.
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
    ancestor = (ancestor as Record<string | number, unknown>)[step]; // each step was taken from an object
  }
  return false;
}

function fault(path: Path, code: CryptoError['code'], message: string): CryptoError {
  return new CryptoError(code, message, jsonPointer(path));
}
