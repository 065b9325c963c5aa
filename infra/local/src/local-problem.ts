/** Something that the person at the keyboard can mend. The message says how. */
export class LocalProblem extends Error {
  constructor(problem: string, nextStep: string) {
    super(`${problem} ${nextStep}`);
    this.name = 'LocalProblem';
  }
}
