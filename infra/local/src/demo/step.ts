/** The result of one step of the demo. */
export type Step = {
  title: string;
  /** The request as the agent wrote it. */
  request: string;
  verdict: string;
  reasonCode: string;
  receiptId: string | null;
  /** One explanatory sentence. */
  explanation: string;
  /** More results, shown as lines of `name` and `value`. */
  details?: [name: string, value: string][];
};

/** Thrown when the result of a step differs from the expected one. */
export class DemoFailure extends Error {
  constructor(step: string, expected: string, got: string) {
    super(`${step}: expected ${expected}, got ${got}`);
    this.name = 'DemoFailure';
  }
}

/** Throws DemoFailure if the verdict or the reason differs from the expected one. */
export function expectStep(step: Step, verdict: string, reasonCode: string): Step {
  const [expected, got] = [`${verdict} ${reasonCode}`, `${step.verdict} ${step.reasonCode}`];
  if (expected !== got) throw new DemoFailure(step.title, expected, got);
  return step;
}
