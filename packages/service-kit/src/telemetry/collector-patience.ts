/** How long a service waits for its collector. */
export const collectorPatience = {
  /** The longest time that the service waits for one answer of the collector. */
  answerMs: 5_000,
  /** The longest life of a connection: the timeout of the exporters, and the same again for one retry. */
  connectionMs: 10_000,
  /** Spans that are still queued this long after a stop are lost. */
  closeMs: 3_000,
};

export type CollectorPatience = Readonly<typeof collectorPatience>;
