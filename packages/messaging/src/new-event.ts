import { randomBytes } from 'node:crypto';
import { CloudEventEnvelope, Instant, type CloudEvent, type EventDefinition } from '@countersign/contracts';
import { systemClock, type Clock } from './clock.ts';

type EventAttributes = { subject?: string; tenantid?: string; traceparent?: string };

/** A checked event on its way into the outbox. */
export type OutgoingEvent = { event: CloudEvent; needsConsumer: boolean };

export type NewEvent = <Type extends string, Data>(
  definition: EventDefinition<Type, Data>,
  data: Data,
  attributes?: EventAttributes,
) => OutgoingEvent;

/**
 * Returns the function that makes one service's events; `source` is a URI reference such as `/governance-kernel`. The function
 * throws ZodError when data or attributes break the definition: a wrong event never reaches the outbox.
 *
 * @example
 * const newEvent = eventFactory({ source: '/governance-kernel' });
 * await recordEvents(tx, [newEvent(receiptSealed, { receiptId }, { tenantid })]);
 */
export function eventFactory(options: {
  source: string;
  clock?: Pick<Clock, 'now'>;
  random?: (bytes: number) => Uint8Array;
  /** The trace that an event of this type goes on with, where its maker names none. */
  traceparent?: ((type: string) => string | undefined) | undefined;
}): NewEvent {
  const { source, clock = systemClock, random = randomBytes, traceparent } = options;
  return (definition, data, attributes = {}) => {
    const timeMs = clock.now();
    const trace = attributes.traceparent ?? traceparent?.(definition.type);
    const event = CloudEventEnvelope.parse({
      specversion: '1.0',
      id: `evt_${ulid(timeMs, random(16))}`,
      source,
      type: definition.type,
      time: Instant.parse(new Date(timeMs).toISOString()),
      datacontenttype: 'application/json',
      ...attributes,
      ...(trace === undefined ? {} : { traceparent: trace }),
      data: definition.data.parse(data),
    });
    return { event, needsConsumer: definition.needsConsumer };
  };
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

// 48 bits of time in ten digits, then sixteen random ones (80 bits).
function ulid(timeMs: number, random: Uint8Array): string {
  const time = Array.from({ length: 10 }, (_, index) => crockford.charAt(Math.floor(timeMs / 32 ** (9 - index)) % 32));
  const tail = Array.from(random.subarray(0, 16), (byte) => crockford.charAt(byte % 32));
  return [...time, ...tail].join('');
}
