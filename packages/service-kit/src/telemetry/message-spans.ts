import type { Tracer } from './tracer.ts';

type SentEvent = { type: string; id: string; traceparent?: string | undefined };

/** Carries a trace with events from their cause to their handlers. */
type MessageSpans = {
  /** The traceparent to send with an event of this type. */
  send(type: string): string | undefined;
  around<Result>(event: SentEvent, queue: string, work: () => Promise<Result>): Promise<Result>;
};

/** Creating an event outside any trace starts no trace. Handling such an event starts one. */
export function messageSpans(tracer: Tracer): MessageSpans {
  return {
    send: (type) => {
      if (tracer.traceparent() === null) return undefined;
      const fields = { 'messaging.operation.type': 'create', 'countersign.event.type': type };
      const span = tracer.start(`create ${type}`, { kind: 'producer', fields });
      span.end();
      return span.traceparent;
    },
    around: (event, queue, work) => {
      const fields = {
        'messaging.operation.type': 'process',
        'messaging.destination.name': queue,
        'messaging.message.id': event.id,
        'countersign.event.type': event.type,
      };
      const parent = event.traceparent ?? null;
      return tracer.run(`process ${event.type}`, { kind: 'consumer', parent, fields }, work);
    },
  };
}
