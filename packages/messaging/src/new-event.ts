import { randomBytes } from 'node:crypto';
import { CloudEventEnvelope, Instant, type CloudEvent, type EventDefinition } from '@countersign/contracts';
import { systemClock, type Clock } from './clock.ts';

type EventAttributes = { subject?: string; tenantid?: string; traceparent?: string };

/** A validated event for the outbox. */
export type OutgoingEvent = { event: CloudEvent; needsConsumer: boolean };

export type NewEvent = <Type extends string, Data>(
  definition: EventDefinition<Type, Data>,
  data: Data,
  attributes?: EventAttributes,
) => OutgoingEvent;

/**
 * Returns the function that creates the events of one service. `source` is a URI reference such as
 * `/governance-kernel`. The function throws ZodError when data or attributes do not match the definition, so invalid
 * events never reach the outbox.
 *
 * @example
 * const newEvent = eventFactory({ source: '/governance-kernel' });
 * await recordEvents(tx, [newEvent(receiptSealed, { receiptId }, { tenantid })]);
 */
export function eventFactory(options: {
  source: string;
  clock?: Pick<Clock, 'now'>;
  random?: (bytes: number) => Uint8Array;
  /** Trace of an event of this type, if its producer passes none. */
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

// 48 bits of time in ten digits, then 80 random bits in sixteen digits.
function ulid(timeMs: number, random: Uint8Array): string {
  const time = Array.from({ length: 10 }, (_, index) => crockford.charAt(Math.floor(timeMs / 32 ** (9 - index)) % 32));
  const tail = Array.from(random.subarray(0, 16), (byte) => crockford.charAt(byte % 32));
  return [...time, ...tail].join('');
}
