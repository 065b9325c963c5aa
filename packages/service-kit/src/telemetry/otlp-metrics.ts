import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { boundedAgent } from './bounded-agent.ts';
import type { CollectorPatience } from './collector-patience.ts';
import { signalUrl, type Collector } from './collector.ts';

const exportEveryMs = 15_000;

export function openMetricsExport(collector: Collector, patience: CollectorPatience): PeriodicExportingMetricReader {
  return new PeriodicExportingMetricReader({
    exporter: metricsExporter(collector, patience),
    exportIntervalMillis: exportEveryMs,
    exportTimeoutMillis: patience.answerMs,
  });
}

export function metricsExporter(collector: Collector, patience: CollectorPatience): OTLPMetricExporter {
  return new OTLPMetricExporter({
    url: signalUrl(collector.url, 'metrics'),
    headers: { ...collector.headers },
    timeoutMillis: patience.answerMs,
    httpAgentOptions: boundedAgent(patience),
  });
}
