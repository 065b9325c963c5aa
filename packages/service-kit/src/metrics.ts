/** Upper bounds in seconds: from an in-memory answer to the longest governed upstream call. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30] as const;

type Series = { operation: string; status: number; buckets: number[]; count: number; sumSeconds: number };

export type Metrics = {
  observe(operation: string, status: number, seconds: number): void;
  /** Prometheus text exposition format 0.0.4. */
  render(): string;
};

/** Request counts and latencies by operation and status: names of a closed list, so the cardinality is bounded. */
export function createMetrics(): Metrics {
  const series = new Map<string, Series>();
  return {
    observe: (operation, status, seconds) => {
      const key = `${operation} ${status}`;
      const found = series.get(key) ?? newSeries(operation, status);
      if (found.count === 0) series.set(key, found);
      const slot = bounds.findIndex((bound) => seconds <= bound);
      const index = slot === -1 ? bounds.length : slot;
      found.buckets[index] = (found.buckets[index] ?? 0) + 1;
      found.count += 1;
      found.sumSeconds += seconds;
    },
    render: () => render([...series.values()]),
  };
}

function newSeries(operation: string, status: number): Series {
  return { operation, status, buckets: Array.from({ length: bounds.length + 1 }, () => 0), count: 0, sumSeconds: 0 };
}

const metric = 'countersign_http_request_duration_seconds';

function render(all: readonly Series[]): string {
  const head = `# HELP ${metric} Time from the request's head to its answer.\n# TYPE ${metric} histogram\n`;
  return head + all.map(renderSeries).join('');
}

function renderSeries({ operation, status, buckets, count, sumSeconds }: Series): string {
  const labels = `operation="${operation}",status="${status}"`;
  let below = 0;
  const lines = bounds.map((bound, index) => {
    below += buckets[index] ?? 0;
    return `${metric}_bucket{${labels},le="${bound}"} ${below}\n`;
  });
  return `${lines.join('')}${metric}_bucket{${labels},le="+Inf"} ${count}\n${metric}_sum{${labels}} ${sumSeconds}\n${metric}_count{${labels}} ${count}\n`;
}
