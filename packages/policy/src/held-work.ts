import type { Work } from './work.ts';

/**
 * The cost of an error, in units of work. The library creates an error for each failing round of a loop, and continues.
 */
const errorCost = 20;

let current: Work | null = null;

/**
 * Sets the work that functions of CEL consume. The work is module state, since these functions receive only their
 * operands.
 */
export function holdWork(work: Work): void {
  current = work;
}

/** Returns `false` when too little work is left. */
export function takeHeldWork(units: number): boolean {
  return current?.take(units) ?? true;
}

export function isHeldWorkSpent(): boolean {
  return current?.isSpent ?? false;
}

export function payForError(): void {
  takeHeldWork(errorCost);
}

/** Creates an error of a custom function, and consumes its cost. */
export function paidRangeError(message: string): RangeError {
  payForError();
  return new RangeError(message);
}
