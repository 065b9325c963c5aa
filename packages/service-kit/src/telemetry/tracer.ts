export type SpanFields = Readonly<Record<string, string | number | boolean>>;

export type SpanTerms = {
  kind: 'server' | 'client' | 'internal' | 'producer' | 'consumer';
  fields?: SpanFields;
  /**
   * A W3C traceparent of the caller; `null` for a trace of its own. Without it the span is part of the work that is
   * under way.
   */
  parent?: string | null;
};

/** One piece of work. Fields that are set twice, or after its end, are dropped. */
export type LiveSpan = {
  /** The parent for work that continues it. */
  readonly traceparent: string;
  set(fields: SpanFields): void;
  /** With the name of a fault, and never with its message: messages quote what callers sent. */
  end(fault?: string): void;
};

/** Says what a service did. Nothing rests on it, and nothing it does can fail. */
export type Tracer = {
  start(name: string, terms: SpanTerms): LiveSpan;
  /** Everything that `work` starts is part of its span. */
  run<Result>(name: string, terms: SpanTerms, work: (span: LiveSpan) => Promise<Result>): Promise<Result>;
  /** Work that has ended; both times are those of `performance.now()`. */
  record(name: string, terms: SpanTerms & { startedAtMs: number; endedAtMs: number }): void;
  /** The traceparent of the current work; `null` when there is none. */
  traceparent(): string | null;
};
