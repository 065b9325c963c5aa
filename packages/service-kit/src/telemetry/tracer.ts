export type SpanFields = Readonly<Record<string, string | number | boolean>>;

export type SpanTerms = {
  kind: 'server' | 'client' | 'internal' | 'producer' | 'consumer';
  fields?: SpanFields;
  /** A W3C traceparent of the caller. `null` for a new trace. Without it the span is part of the current work. */
  parent?: string | null;
};

/**
 * One piece of work. A field that is set again replaces the first value. Fields that are set after its end are dropped.
 */
export type LiveSpan = {
  /** The parent of work that continues this span. */
  readonly traceparent: string;
  set(fields: SpanFields): void;
  /** Ends the span. `fault` is the name of a fault and never its message, since messages may quote callers. */
  end(fault?: string): void;
};

/** Traces the work of a service. No logic depends on it, and it never fails. */
export type Tracer = {
  start(name: string, terms: SpanTerms): LiveSpan;
  /** Everything that `work` starts is part of its span. */
  run<Result>(name: string, terms: SpanTerms, work: (span: LiveSpan) => Promise<Result>): Promise<Result>;
  /** Records work that has ended. Both times are those of `performance.now()`. */
  record(name: string, terms: SpanTerms & { startedAtMs: number; endedAtMs: number }): void;
  /** The traceparent of the current work. `null` when there is none. */
  traceparent(): string | null;
};
