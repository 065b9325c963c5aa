import { z } from 'zod';
import { Instant } from './scalars.ts';

// A dotted noun, a verb in the past tense, a version: receipt.sealed.v1
const eventTypePattern = /^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+\.v[1-9][0-9]*$/;
// W3C Trace Context, version 00.
const traceparentPattern = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** CloudEvents 1.0 in structured JSON mode, with the distributed tracing extension and our `tenantid`. */
export type CloudEvent<Type extends string = string, Data = unknown> = {
  specversion: '1.0';
  id: string;
  source: string;
  type: Type;
  subject?: string | undefined;
  time: Instant;
  datacontenttype: 'application/json';
  traceparent?: string | undefined;
  tenantid?: string | undefined;
  data: Data;
};

export type EventDefinition<Type extends string = string, Data = unknown> = {
  type: Type;
  data: z.ZodType<Data>;
  /** `true` for a command. Its publisher keeps it until at least one queue accepts it. */
  needsConsumer: boolean;
  /** The recipient outside of the services; `null` when a service consumes the event. */
  forOthers: string | null;
};

/** The event type of a definition. A union of definitions gives a union that `switch (event.type)` narrows. */
export type EventOf<Definition> =
  Definition extends EventDefinition<infer Type, infer Data> ? CloudEvent<Type, Data> : never;

/**
 * The envelope without its data, which is checked against the definition of its type. Unknown extensions are dropped.
 */
export const CloudEventEnvelope: z.ZodType<CloudEvent> = z.object({
  specversion: z.literal('1.0'),
  id: z.string().min(1).max(128),
  source: z.string().min(1).max(256),
  type: z.string().regex(eventTypePattern, 'must look like receipt.sealed.v1'),
  subject: z.string().min(1).max(512).optional(),
  time: Instant,
  datacontenttype: z.literal('application/json'),
  traceparent: z.string().regex(traceparentPattern, 'must be a W3C traceparent').optional(),
  tenantid: z.string().min(1).max(128).optional(),
  data: z.unknown(),
});

/**
 * Describes an event that two services agree on. Throws TypeError for a name that is not dotted, lower-case and
 * versioned.
 *
 * @example
 * export const receiptSealed = defineEvent({
 *   type: 'receipt.sealed.v1',
 *   data: z.strictObject({ receiptId: ReceiptId }),
 * });
 */
export function defineEvent<const Type extends string, Data>(definition: {
  type: Type;
  data: z.ZodType<Data>;
  needsConsumer?: boolean;
  forOthers?: string;
}): EventDefinition<Type, Data> {
  if (!eventTypePattern.test(definition.type))
    throw new TypeError(`${definition.type} does not look like receipt.sealed.v1`);
  const { type, data, needsConsumer = false, forOthers = null } = definition;
  return { type, data, needsConsumer, forOthers };
}
