export type SpanFields = Readonly<Record<string, string | number | boolean>>;

export type SpanTerms = {
  kind: 'server' | 'client' | 'internal' | 'producer' | 'consumer';
  fields?: SpanFields;
  /** A W3C traceparent that somebody sent; null: a trace of its own. Without it the span is part of the work that is under way. */
  parent?: string | null;
};

/** One piece of work. What is told of it twice, or after its end, is dropped. */
export type LiveSpan = {
  /** For whoever works on in its name. */
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
  /** Of the work that is under way; null: there is none. */
  traceparent(): string | null;
};
