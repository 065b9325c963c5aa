import { canonicalize, type JsonValue } from '@countersign/crypto';
import type { FuncKeywordDefinition } from 'ajv';
import { linearRegExp } from './linear-regexp.ts';
import { effortKeyword, type Effort } from './metered-schema.ts';
import { areUnique } from './unique-items.ts';
import type { Work } from './work.ts';

/** Thrown when judging a value would exceed the work for its call. */
export class TooMuchWork extends Error {}

/** Units of work for writing canonical JSON. */
const writingCosts = { value: 0.5, character: 0.02 };

/**
 * The keywords of Ajv that read a whole value, and the keyword that contains the cost of a node. `this` is the {@link
 * Work} of the call.
 */
export const meteredKeywords = [
  // The cost must be consumed first. Ajv's list of keywords begins with `$comment`, and Ajv stops at the first keyword
  // that fails.
  { keyword: effortKeyword, before: '$comment', errors: false, validate: takeEffort },
  { keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: isUniqueAsAsked },
  { keyword: 'enum', schemaType: 'array', compile: isAmong },
  { keyword: 'pattern', type: 'string', schemaType: 'string', compile: matching },
] satisfies FuncKeywordDefinition[];

function takeEffort(this: Work, effort: Effort, data: JsonValue): boolean {
  take(this, effort.value);
  if (typeof data === 'string') take(this, effort.character * data.length);
  if (Array.isArray(data)) take(this, effort.item * data.length);
  else if (typeof data === 'object' && data !== null && effort.member > 0)
    for (const name of Object.keys(data)) take(this, effort.member + effort.nameCharacter * name.length);
  return true;
}

/**
 * Ajv compares each object with every other one. A list of 50,000 objects, which fits into a request, would take half a
 * minute.
 */
function isUniqueAsAsked(this: Work, isDeclared: boolean, items: JsonValue[]): boolean {
  if (!isDeclared) return true;
  takeForWriting(this, items);
  return areUnique(items);
}

/** Looks a value up in sets. Ajv would compare it with each allowed value. */
function isAmong(allowed: JsonValue[]): (this: Work, data: JsonValue) => boolean {
  const isComposed = (value: JsonValue) => typeof value === 'object' && value !== null;
  const plain = new Set<unknown>(allowed.filter((value) => !isComposed(value)));
  const written = new Set(allowed.filter(isComposed).map((value) => canonicalize(value)));
  return function (data) {
    if (!isComposed(data) || written.size === 0) return plain.has(data);
    takeForWriting(this, data);
    return written.has(canonicalize(data));
  };
}

/** Attacker-controlled patterns never reach a backtracking engine. */
function matching(pattern: string): (this: Work, text: string) => boolean {
  const { test, costPerCharacter } = linearRegExp(pattern);
  return function (text) {
    take(this, costPerCharacter * text.length);
    return test(text);
  };
}

function takeForWriting(work: Work, value: JsonValue): void {
  const pending = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    take(work, writingCosts.value + (typeof next === 'string' ? next.length * writingCosts.character : 0));
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) pending.push(inner);
  }
}

function take(work: Work, units: number): void {
  if (!work.take(units)) throw new TooMuchWork();
}
