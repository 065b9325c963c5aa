import { CryptoError } from './crypto-error.ts';
import { JSON_DEPTH_MAX, jsonPointer } from './json-value.ts';
import type { JsonValue } from './json-value.ts';

interface Walk {
  root: unknown;
  depthMax: number;
  /** Steps from the root to the value in hand; its length is the depth. */
  path: (string | number)[];
}

// Control characters, quote, backslash and any surrogate: a string without them is its own escaped form.
// eslint-disable-next-line no-control-regex -- RFC 8785 §3.2.2.2 escapes exactly these
const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/;
// With the u flag a well-formed pair is one code point above U+FFFF, so only lone surrogates match.
const LONE_SURROGATE = /[\ud800-\udfff]/u;
const encoder = new TextEncoder();

/**
 * The RFC 8785 (JCS) text of a value. Gate and serialisation are one pass, so nothing is signed that the gate did not see.
 * Throws {@link CryptoError} under the same conditions as {@link parsePlainJson}.
 */
export function canonicalize(value: JsonValue): string {
  return writeValue(value, { root: value, depthMax: JSON_DEPTH_MAX, path: [] });
}

/** UTF-8 bytes of {@link canonicalize}: the bytes that are hashed and signed. */
export function canonicalBytes(value: JsonValue): Uint8Array {
  return encoder.encode(canonicalize(value));
}

/**
 * Returns the same value, now known to be plain JSON: what is read from it is exactly what {@link canonicalize} writes.
 * Throws {@link CryptoError}: `NOT_PLAIN_JSON` (undefined, function, symbol, bigint, hole, class instance, cycle),
 * `NUMBER_NOT_FINITE`, `LONE_SURROGATE` (member names too), `NESTING_TOO_DEEP` (default 64), each with the member's path.
 */
export function parsePlainJson(value: unknown, limits: { depthMax?: number } = {}): JsonValue {
  writeValue(value, { root: value, depthMax: limits.depthMax ?? JSON_DEPTH_MAX, path: [] });
  return value as JsonValue; // the walk above has just established it
}

function writeValue(value: unknown, walk: Walk): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, walk);
    case 'number':
      if (!Number.isFinite(value)) throw fault(walk, 'NUMBER_NOT_FINITE', `${value} has no JSON form`);
      return String(value); // RFC 8785 §3.2.2.3 is ECMAScript's own number to string; -0 becomes 0
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (walk.path.length >= walk.depthMax) throw tooDeep(value, walk);
      return Array.isArray(value) ? writeArray(value, walk) : writeObject(value, walk);
    default:
      throw fault(walk, 'NOT_PLAIN_JSON', `${typeof value} is not JSON`);
  }
}

function writeString(value: string, walk: Walk): string {
  if (!NEEDS_CARE.test(value)) return `"${value}"`;
  if (LONE_SURROGATE.test(value)) throw fault(walk, 'LONE_SURROGATE', 'string with a lone surrogate');
  return JSON.stringify(value); // on well-formed strings its escapes are those of RFC 8785 §3.2.2.2
}

function writeArray(value: unknown[], walk: Walk): string {
  if (!isPlainArray(value))
    throw fault(walk, 'NOT_PLAIN_JSON', 'array with holes, extra members or a foreign prototype');
  const { path } = walk;
  const depth = path.length;
  let text = '[';
  for (let index = 0; index < value.length; index += 1) {
    path[depth] = index;
    text += index === 0 ? writeValue(value[index], walk) : `,${writeValue(value[index], walk)}`;
  }
  path.length = depth;
  return `${text}]`;
}

function writeObject(value: object, walk: Walk): string {
  if (!isPlainObject(value)) throw fault(walk, 'NOT_PLAIN_JSON', 'only plain objects are JSON');
  const members = value as Record<string, unknown>; // plain by the check above
  const { path } = walk;
  const depth = path.length;
  let text = '{';
  // The default order of sort() is that of UTF-16 code units, which RFC 8785 §3.2.3 asks for.
  for (const name of Object.keys(members).sort()) {
    path[depth] = name;
    const member = `${writeString(name, walk)}:${writeValue(members[name], walk)}`;
    text += text === '{' ? member : `,${member}`;
  }
  path.length = depth;
  return `${text}}`;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === null || isRootPrototype(prototype)) && Object.getOwnPropertySymbols(value).length === 0;
}

function isPlainArray(value: unknown[]): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Array.prototype && !(Array.isArray(prototype) && isRootPrototype(Object.getPrototypeOf(prototype))))
    return false;
  return Object.keys(value).length === value.length && Object.getOwnPropertySymbols(value).length === 0;
}

// Object.prototype of another realm (iframe, vm context) is as plain as ours.
function isRootPrototype(prototype: unknown): boolean {
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
    ? fault(walk, 'NOT_PLAIN_JSON', 'value that contains itself')
    : fault(walk, 'NESTING_TOO_DEEP', `nesting deeper than ${walk.depthMax}`);
}

function isOwnAncestor(value: object, walk: Walk): boolean {
  let ancestor = walk.root;
  for (const step of walk.path) {
    if (ancestor === value) return true;
    ancestor = (ancestor as Record<string | number, unknown>)[step]; // the walk came this way, so it is an object
  }
  return false;
}

function fault(walk: Walk, code: CryptoError['code'], message: string): CryptoError {
  return new CryptoError(code, message, jsonPointer(walk.path));
}
