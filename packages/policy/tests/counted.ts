import { Work } from '../src/work.ts';

/** The number of steps in a unit of work. */
const stepsPerUnit = 16;

/** Counts what is done: each step that was granted, and each time that something was asked for, granted or not. */
export class CountedWork extends Work {
  steps = 0;
  asked = 0;

  override take(units: number): boolean {
    const isGranted = super.take(units);
    this.asked += 1;
    if (isGranted) this.steps += units * stepsPerUnit;
    return isGranted;
  }
}

/** The steps that something takes of the work that it is given. */
export function stepsTaken(run: (work: Work) => unknown, units = 2 ** 40): number {
  const work = new CountedWork(units);
  run(work);
  return work.steps;
}

/** The result of a generator of steps. */
export function allSteps<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
