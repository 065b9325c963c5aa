/** A problem that the user can fix. The message contains the next step. */
export class LocalProblem extends Error {
  constructor(problem: string, nextStep: string) {
    super(`${problem} ${nextStep}`);
    this.name = 'LocalProblem';
  }
}
