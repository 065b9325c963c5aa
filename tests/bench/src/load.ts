import type { LatencySummary } from './latencies.ts';

/** What the load generator is told. Bounded in time always, in count where a fixed number of answers is wanted. */
export type Load = {
  /** One per connection, sent over and over. */
  requests: { url: string; body: string }[];
  headers: Record<string, string>;
  seconds: number;
  answersPerConnectionMax?: number;
};

export type LoadResult = LatencySummary & {
  statuses: Record<string, number>;
  generatorBusy: number | null;
};
