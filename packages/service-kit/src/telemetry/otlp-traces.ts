import type { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { Resource } from '@opentelemetry/resources';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { signalUrl, type Collector } from './collector.ts';
import { boundedAgent } from './bounded-agent.ts';
import type { CollectorPatience } from './collector-patience.ts';
import { otelTracer } from './otel-tracer.ts';
import type { Tracer } from './tracer.ts';

/** A few seconds of a busy kernel. Further spans are dropped and counted. */
const queuedSpansMax = 4_096;
const attributeLengthMax = 512;

/** The terms of every span: all are sent unless their sender did not sample them, cut to the limits of a collector. */
export const spanTerms = {
  sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  spanLimits: {
    attributeValueLengthLimit: attributeLengthMax,
    attributeCountLimit: 64,
    eventCountLimit: 0,
    linkCountLimit: 0,
  },
};

export type Traces = { tracer: Tracer; flush(): Promise<void>; close(): Promise<void> };

type Deps = {
  collector: Collector;
  patience: CollectorPatience;
  resource: Resource;
  meterProvider: MeterProvider;
  scope: string;
};

/** Sends spans to the collector through a bounded queue, without delaying the traced work. */
export function openTraces({ collector, patience, resource, meterProvider, scope }: Deps): Traces {
  const processor = new BatchSpanProcessor({
    exporter: tracesExporter(collector, patience),
    maxQueueSize: queuedSpansMax,
    scheduledDelayMillis: 1_000,
    exportTimeoutMillis: patience.answerMs,
    selfObsMeterProvider: meterProvider,
  });
  const provider = new TracerProvider({ ...spanTerms, resource, spanProcessors: [processor] });
  return {
    tracer: otelTracer(provider.getTracer(scope)),
    flush: () => provider.forceFlush(),
    close: () => provider.shutdown(),
  };
}

export function tracesExporter(collector: Collector, patience: CollectorPatience): OTLPTraceExporter {
  return new OTLPTraceExporter({
    url: signalUrl(collector.url, 'traces'),
    headers: { ...collector.headers },
    timeoutMillis: patience.answerMs,
    httpAgentOptions: boundedAgent(patience),
  });
}
