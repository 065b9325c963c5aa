import type { Work } from './work.ts';

/** What making an error costs, in units. The library makes one for each round of a loop that fails, and goes on. */
const errorCost = 20;

let held: Work | null = null;

/** From now on what an expression calls takes its work from here: functions of CEL get their operands alone. */
export function holdWork(work: Work): void {
  held = work;
}

/** False when it is more than is left. */
export function takeHeldWork(units: number): boolean {
  return held?.take(units) ?? true;
}

export function isHeldWorkSpent(): boolean {
  return held?.isSpent ?? false;
}

export function payForError(): void {
  takeHeldWork(errorCost);
}

/** For a function of ours that cannot answer. */
export function paidRangeError(message: string): RangeError {
  payForError();
  return new RangeError(message);
}
