import type { Outcome } from '@countersign/contracts/governance-kernel';
import type { LiveSpan, SpanFields, Tracer } from '@countersign/service-kit';
import type { Usage } from './prices.ts';

/** The span of a model call, from its first byte to the end of its answer. A call that is not sent has no span. */
export class ModelSpan {
  readonly #tracer: Tracer;
  readonly #model: string;
  #span: LiveSpan | null = null;

  constructor(tracer: Tracer, model: string) {
    this.#tracer = tracer;
    this.#model = model;
  }

  /** Starts the span when the call is sent, and returns the traceparent to send. */
  begin(): string {
    const fields = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': this.#model };
    this.#span = this.#tracer.start(`chat ${this.#model}`, { kind: 'client', fields });
    return this.#span.traceparent;
  }

  settle({ outcome, usage }: { outcome: Outcome; usage: Usage | null }): void {
    const fields: SpanFields = {
      'countersign.outcome': outcome,
      ...(usage === null
        ? {}
        : { 'gen_ai.usage.input_tokens': usage.promptTokens, 'gen_ai.usage.output_tokens': usage.completionTokens }),
    };
    this.#span?.set(fields);
    this.#span?.end(outcome === 'completed' ? undefined : outcome);
  }

  /** Ends a span that was not settled. */
  end(): void {
    this.#span?.end('unsettled');
  }
}
