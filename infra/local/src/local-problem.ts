/** Something that the person at the keyboard can mend. The message says how. */
export class LocalProblem extends Error {
  constructor(problem: string, nextStep: string, options: { cause?: unknown } = {}) {
    super(`${problem}\n  ${nextStep}`, options);
    this.name = 'LocalProblem';
  }
}
