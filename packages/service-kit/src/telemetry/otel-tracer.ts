import { AsyncLocalStorage } from 'node:async_hooks';
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type SpanOptions,
  type Tracer as OtelTracer,
} from '@opentelemetry/api';
import type { LiveSpan, SpanFields, SpanTerms, Tracer } from './tracer.ts';

/** Marks telemetry as not authoritative in every collector. Only receipts are authoritative. */
export const authority: SpanFields = { 'countersign.authoritative': false };

const kinds: Record<SpanTerms['kind'], SpanKind> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** The span of the current work in this flow of control. */
const underWay = new AsyncLocalStorage<Span>();

export function otelTracer(tracer: OtelTracer): Tracer {
  const begin = (name: string, terms: SpanTerms, startTime?: number): Span =>
    tracer.startSpan(name, optionsOf(terms, startTime), contextOf(terms));
  return {
    start: (name, terms) => liveSpan(begin(name, terms)),
    run: (name, terms, work) => {
      const span = begin(name, terms);
      const live = liveSpan(span);
      return underWay.run(span, async () => {
        try {
          return await work(live);
        } catch (error) {
          live.end(faultName(error));
          throw error;
        } finally {
          live.end();
        }
      });
    },
    record: (name, { startedAtMs, endedAtMs, ...terms }) => begin(name, terms, startedAtMs).end(endedAtMs),
    traceparent: () => {
      const span = underWay.getStore();
      return span === undefined ? null : traceparentOf(span);
    },
  };
}

function optionsOf({ kind, fields }: SpanTerms, startTime: number | undefined): SpanOptions {
  return {
    kind: kinds[kind],
    attributes: { ...authority, ...fields },
    ...(startTime === undefined ? {} : { startTime }),
  };
}

/**
 * A trace of a sender continues with the sender's flag. A trace that the sender does not sample is not sampled here.
 * Trace state and baggage are dropped.
 */
function contextOf({ parent }: SpanTerms): Context {
  if (parent === undefined) {
    const span = underWay.getStore();
    return span === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, span);
  }
  const [, traceId = '', spanId = '', flags = ''] = parent?.split('-') ?? [];
  const sent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(sent) ? trace.setSpanContext(ROOT_CONTEXT, sent) : ROOT_CONTEXT;
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}

function liveSpan(span: Span): LiveSpan {
  let isEnded = false;
  return {
    traceparent: traceparentOf(span),
    set: (fields) => {
      if (!isEnded) span.setAttributes(fields);
    },
    end: (fault) => {
      if (isEnded) return;
      isEnded = true;
      if (fault !== undefined) span.setAttribute('error.type', fault).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function faultName(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
