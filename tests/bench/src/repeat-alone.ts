import { summarise, type LatencySummary } from './latencies.ts';

/** Repeats work, one repetition at a time, and summarises their latencies. */
export async function repeatAlone(work: () => Promise<void>, seconds: number): Promise<LatencySummary> {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1_000;
  let now = startedAt;
  while (now < deadline) {
    const sentAt = now;
    await work();
    now = performance.now();
    latenciesMs.push(now - sentAt);
  }
  return summarise(latenciesMs, now - startedAt);
}
