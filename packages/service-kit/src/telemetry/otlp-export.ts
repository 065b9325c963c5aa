import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Collector } from './collector.ts';
import type { CollectorPatience } from './collector-patience.ts';
import { authority } from './otel-tracer.ts';
import { metricsExporter } from './otlp-metrics.ts';
import { spanTerms, tracesExporter } from './otlp-traces.ts';
import type { SpanFields } from './tracer.ts';

/** An event at one moment, sent as a separate span. */
export type ToldSpan = { name: string; at: Date; fields: SpanFields };

/** The result of one request to the collector. `refused`: the collector answered with an error status. */
export type Delivery =
  | { state: 'sent'; count: number }
  | { state: 'nothing' }
  | { state: 'refused'; status: number }
  /**
   * The collector is unreachable or closes the connection. Or it is silent, or requests retries, until the time is
   * over.
   */
  | { state: 'unanswered' };

export type Delivered = { traces: Delivery; metrics: Delivery };

/** Sends now and waits for the answers, without the queue. Never rejects. */
export type ExportNow = (spans: readonly ToldSpan[]) => Promise<Delivered>;

type Deps = {
  collector: Collector;
  patience: CollectorPatience;
  resource: Resource;
  scope: string;
  collectMetrics: () => Promise<ResourceMetrics>;
};

export function openExport({ collector, patience, resource, scope, collectMetrics }: Deps): ExportNow {
  const traces = tracesExporter(collector, patience);
  const metrics = metricsExporter(collector, patience);
  return async (spans) => {
    const measured = await collectMetrics();
    const instruments = measured.scopeMetrics.reduce((sum, { metrics: each }) => sum + each.length, 0);
    const [ofTraces, ofMetrics] = await Promise.all([
      delivered(spans.length, patience, (tell) => traces.export(spansOf(spans, { resource, scope }), tell)),
      delivered(instruments, patience, (tell) => metrics.export(measured, tell)),
    ]);
    return { traces: ofTraces, metrics: ofMetrics };
  };
}

/** The result of the exporters: code 0 is success, and an error from the collector has its status. */
type Result = { code: number; error?: Error };

async function delivered(
  count: number,
  { connectionMs }: CollectorPatience,
  send: (tell: (result: Result) => void) => void,
): Promise<Delivery> {
  if (count === 0) return { state: 'nothing' };
  const { code, error } = await inTime(new Promise<Result>(send), connectionMs);
  if (code === 0) return { state: 'sent', count };
  const status = error !== undefined && 'code' in error ? error.code : undefined;
  return typeof status === 'number' ? { state: 'refused', status } : { state: 'unanswered' };
}

/** An answer that never ends counts as missing, however much of it has arrived. */
async function inTime(answer: Promise<Result>, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Result>((resolve) => {
    timer = setTimeout(() => resolve({ code: 1 }), timeoutMs);
  });
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function spansOf(spans: readonly ToldSpan[], { resource, scope }: Pick<Deps, 'resource' | 'scope'>): ReadableSpan[] {
  const made: ReadableSpan[] = [];
  const done = () => Promise.resolve();
  const kept = { onStart: () => undefined, onEnd: (span: ReadableSpan) => made.push(span) };
  const provider = new TracerProvider({
    ...spanTerms,
    resource,
    spanProcessors: [{ ...kept, forceFlush: done, shutdown: done }],
  });
  const tracer = provider.getTracer(scope);
  for (const { name, at, fields } of spans)
    tracer.startSpan(name, { startTime: at, attributes: { ...authority, ...fields } }, ROOT_CONTEXT).end(at);
  return made;
}
