import type { Transport } from '@modelcontextprotocol/client';
import { excessCode } from './excess.ts';

type Message = Parameters<NonNullable<Transport['onmessage']>>[0];
type Receive = NonNullable<Transport['onmessage']>;

/**
 * Messages with more values would block other requests while they are checked, hashed and sent. A table of a few
 * thousand rows fits.
 */
export const messageValuesMax = 20_000;

/** The transport with a limit on values. An answer with too many values is replaced by an error for its request. */
export function withBoundedMessages(transport: Transport): Transport {
  let receive: Receive | undefined;
  return Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => receive,
    set: (input: Receive | undefined) => {
      receive = input && bounded(input);
    },
  });
}

function bounded(receive: Receive): Receive {
  return (message, extra) => {
    const passed = hasAtMost(messageValuesMax, message) ? message : withheld(message);
    if (passed !== null) receive(passed, extra);
  };
}

/** Replaces a withheld answer. Requests and notifications of that size are dropped, since none is supported. */
function withheld(message: Message): Message | null {
  if ('method' in message || message.id === undefined) return null;
  return { jsonrpc: '2.0', id: message.id, error: { code: excessCode, message: 'The answer has too many values' } };
}

/** Whether the JSON has at most this many values. Stops there, and is not recursive. */
export function hasAtMost(valuesMax: number, value: unknown): boolean {
  const remaining: unknown[] = [value];
  for (let seen = 0; remaining.length > 0; seen += 1) {
    const next = remaining.pop();
    if (seen >= valuesMax) return false;
    if (typeof next !== 'object' || next === null) continue;
    const items: unknown[] = Object.values(next);
    if (remaining.length + items.length > valuesMax) return false;
    remaining.push(...items);
  }
  return true;
}
