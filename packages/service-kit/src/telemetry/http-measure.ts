import type { Labels, Meter } from './meter.ts';

/** Called for every answer. */
export type HttpMeasure = (operation: string, status: number, seconds: number) => void;

/** Upper bounds in seconds: from an in-memory answer to the longest governed upstream call. */
export const secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30] as const;

/** Latencies by operation and status, which are names of closed lists, so their number is bounded. */
export function measureHttp(meter: Meter): HttpMeasure {
  const measure = meter.histogram({
    name: 'countersign_http_request_duration_seconds',
    help: "Time from the request's head to its answer.",
    bounds: secondsBounds,
  });
  const labels = new Map<string, Labels>();
  return (operation, status, seconds) => {
    const key = `${operation} ${status}`;
    const attributes = labels.get(key) ?? { operation, status };
    labels.set(key, attributes);
    measure(seconds, attributes);
  };
}
