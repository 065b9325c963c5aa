import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { boundedAgent } from './bounded-agent.ts';
import { signalUrl, type Collector } from './collector.ts';

const exportEveryMs = 15_000;

export function openMetricsExport(collector: Collector, timeoutMs: number): PeriodicExportingMetricReader {
  return new PeriodicExportingMetricReader({
    exporter: metricsExporter(collector, timeoutMs),
    exportIntervalMillis: exportEveryMs,
    exportTimeoutMillis: timeoutMs,
  });
}

export function metricsExporter(collector: Collector, timeoutMs: number): OTLPMetricExporter {
  return new OTLPMetricExporter({
    url: signalUrl(collector.url, 'metrics'),
    headers: { ...collector.headers },
    timeoutMillis: timeoutMs,
    httpAgentOptions: boundedAgent,
  });
}
