export type LatencySummary = { answers: number; perSecond: number; p50Ms: number; p99Ms: number };

/** The summary of the latencies of one window. Throws when the window has no answer. */
export function summarise(latenciesMs: readonly number[], elapsedMs: number): LatencySummary {
  if (latenciesMs.length === 0) throw new RangeError('The window has no answer');
  const sorted = Float64Array.from(latenciesMs).sort();
  const quantile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    answers: sorted.length,
    perSecond: sorted.length / (elapsedMs / 1_000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
}
