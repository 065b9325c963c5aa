/** How long a service waits for its collector. */
export const collectorPatience = {
  /** An answer that takes longer is not waited for. */
  answerMs: 5_000,
  /** The timeout of the exporters, and the same again for another try. */
  connectionMs: 10_000,
  /** Spans that are still queued after this time of a stop are lost. */
  closeMs: 3_000,
};

export type CollectorPatience = Readonly<typeof collectorPatience>;
