/** The result of one step of the demo. */
export type Step = {
  title: string;
  /** The request in the agent's words. */
  asked: string;
  verdict: string;
  reasonCode: string;
  receiptId: string | null;
  /** One sentence for the reader. */
  explanation: string;
  /** More results: lines of `name` and `value`. */
  details?: [name: string, value: string][];
};

/** Thrown when the system did something else than the demo promises. */
export class DemoFailure extends Error {
  constructor(step: string, expected: string, got: string) {
    super(`${step}: expected ${expected}, got ${got}`);
    this.name = 'DemoFailure';
  }
}

/** Throws DemoFailure unless the verdict and reason are the promised ones. */
export function expectStep(step: Step, verdict: string, reasonCode: string): Step {
  const [expected, got] = [`${verdict} ${reasonCode}`, `${step.verdict} ${step.reasonCode}`];
  if (expected !== got) throw new DemoFailure(step.title, expected, got);
  return step;
}
