/** How long a service waits for its collector. */
export const collectorPatience = {
  /** An answer that takes longer is not waited for. */
  answerMs: 5_000,
  /** What the exporters wait for, and once more for another try. */
  connectionMs: 10_000,
  /** What is queued at a stop is lost after it. */
  closeMs: 3_000,
};

export type CollectorPatience = Readonly<typeof collectorPatience>;
