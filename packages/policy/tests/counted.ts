import { Work } from '../src/work.ts';

/** The number of steps in a unit of work. */
const stepsPerUnit = 16;

/** Counts the granted steps, and all requests for work, granted or not. */
export class CountedWork extends Work {
  steps = 0;
  requests = 0;

  override take(units: number): boolean {
    const isGranted = super.take(units);
    this.requests += 1;
    if (isGranted) this.steps += units * stepsPerUnit;
    return isGranted;
  }
}

/** The number of steps that a function consumes. */
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
