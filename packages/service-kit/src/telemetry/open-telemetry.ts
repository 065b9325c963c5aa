import { setTimeout as delay } from 'node:timers/promises';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider, type IMetricReader } from '@opentelemetry/sdk-metrics';
import type { Collector } from './collector.ts';
import { collectorPatience } from './collector-patience.ts';
import { measureHttp, type HttpMeasure } from './http-measure.ts';
import type { Meter } from './meter.ts';
import type { ExportNow } from './otlp-export.ts';
import { otelMeter } from './otel-meter.ts';
import { measureProcess } from './process-measures.ts';
import type { Tracer } from './tracer.ts';

export type Telemetry = {
  /** `null` when no collector is configured. No span is created then. */
  readonly tracer: Tracer | null;
  readonly meter: Meter;
  /** Measures every request. */
  readonly http: HttpMeasure;
  readonly collector: Collector | null;
  readonly resource: Readonly<Record<string, string | boolean>>;
  /** All metrics in the text format of Prometheus. */
  prometheus(): Promise<string>;
  /** `null` when no collector is configured. */
  readonly exportNow: ExportNow | null;
  /** Sends queued data. Never rejects, and takes seconds at most. */
  flush(): Promise<void>;
  /** Safe to call twice. */
  close(): Promise<void>;
};

type About = { service: string; version: string };

/** If a database does not answer within this time, its gauges are omitted and the others are reported. */
const scrapeTimeoutMs = 1_000;
const nothing = Promise.resolve();

/** The metrics and traces of a service. The exporters are loaded only with a collector. */
export async function openTelemetry(
  collector: Collector | null,
  { service, version }: About,
  patience = collectorPatience,
): Promise<Telemetry> {
  const about = { 'service.name': service, 'service.version': version, 'countersign.authoritative': false };
  const resource = resourceFromAttributes(about);
  const scraped = new PrometheusExporter({ preventServerStart: true });
  const readers: IMetricReader[] = [scraped];
  const otlp = collector === null ? null : await loadOtlp();
  if (collector !== null && otlp !== null) readers.push(otlp.openMetricsExport(collector, patience));
  const meterProvider = new MeterProvider({ resource, readers });
  const scope = `countersign/${service}`;
  const common = { patience, resource, scope };
  const traces = collector === null ? undefined : otlp?.openTraces({ ...common, collector, meterProvider });
  const meter = otelMeter(meterProvider.getMeter(scope));
  const stopMeasuring = measureProcess(meter);
  const collectMetrics = async () => (await scraped.collect({ timeoutMillis: scrapeTimeoutMs })).resourceMetrics;
  const exported = collector === null ? undefined : otlp?.openExport({ ...common, collector, collectMetrics });
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const closeAll = async () => {
    stopMeasuring();
    await inTime([traces?.close() ?? nothing, meterProvider.shutdown()], patience.closeMs);
  };
  let closing: Promise<void> | null = null;
  return {
    tracer: traces?.tracer ?? null,
    meter,
    http: measureHttp(meter),
    collector,
    resource: about,
    prometheus: async () => serializer.serialize(await collectMetrics()),
    exportNow: exported ?? null,
    flush: () => inTime([traces?.flush() ?? nothing, meterProvider.forceFlush()], patience.closeMs),
    close: () => (closing ??= closeAll()),
  };
}

async function loadOtlp() {
  const exported = await import('./otlp-export.ts'); // this module imports the other two
  const [traces, metrics] = await Promise.all([import('./otlp-traces.ts'), import('./otlp-metrics.ts')]);
  return { ...traces, ...metrics, ...exported };
}

/** Waits no longer than `timeoutMs`, so that a hanging collector delays neither a stop nor a test. */
async function inTime(work: readonly Promise<void>[], timeoutMs: number): Promise<void> {
  const late = new AbortController();
  const timer = delay(timeoutMs, undefined, { signal: late.signal, ref: false }).catch(() => undefined);
  await Promise.race([Promise.allSettled(work), timer]);
  late.abort();
}
