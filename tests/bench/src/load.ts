import type { LatencySummary } from './latencies.ts';

export type LoadRequest = { method: 'GET' | 'POST'; url: string; body: string };

/**
 * The parameters of the load generator. Its time is always bounded. Its count is bounded where a fixed number of
 * answers is needed.
 */
export type Load = {
  /** One request per connection, sent over and over. */
  requests: LoadRequest[];
  headers: Record<string, string>;
  seconds: number;
  answersPerConnectionMax?: number;
};

export type LoadResult = LatencySummary & {
  statuses: Record<string, number>;
  generatorBusy: number | null;
};
