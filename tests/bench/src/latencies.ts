export type LatencySummary = { answers: number; perSecond: number; p50Ms: number; p99Ms: number };

/** The summary of a window of single latencies. Throws when nothing was answered: there is nothing to tell then. */
export function summarise(latenciesMs: readonly number[], elapsedMs: number): LatencySummary {
  if (latenciesMs.length === 0) throw new RangeError('Nothing was answered');
  const sorted = Float64Array.from(latenciesMs).sort();
  const quantile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    answers: sorted.length,
    perSecond: sorted.length / (elapsedMs / 1_000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
}
