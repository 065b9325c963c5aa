import type { LatencySummary } from './latencies.ts';

export type LoadRequest = { method: 'GET' | 'POST'; url: string; body: string };

/** The parameters of the load generator. Bounded in time always, in count where a fixed number of answers is wanted. */
export type Load = {
  /** One per connection, sent over and over. */
  requests: LoadRequest[];
  headers: Record<string, string>;
  seconds: number;
  answersPerConnectionMax?: number;
};

export type LoadResult = LatencySummary & {
  statuses: Record<string, number>;
  generatorBusy: number | null;
};
