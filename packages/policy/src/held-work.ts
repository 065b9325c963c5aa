import type { Work } from './work.ts';

/** The cost of making an error, in units. The library makes one for each round of a loop that fails, and goes on. */
const errorCost = 20;

let current: Work | null = null;

/** From now on what an expression calls takes its work from here: functions of CEL get their operands alone. */
export function holdWork(work: Work): void {
  current = work;
}

/** False when it is more than is left. */
export function takeHeldWork(units: number): boolean {
  return current?.take(units) ?? true;
}

export function isHeldWorkSpent(): boolean {
  return current?.isSpent ?? false;
}

export function payForError(): void {
  takeHeldWork(errorCost);
}

/** For a function of ours that cannot answer. */
export function paidRangeError(message: string): RangeError {
  payForError();
  return new RangeError(message);
}
