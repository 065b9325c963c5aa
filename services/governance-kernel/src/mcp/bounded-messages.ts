import type { Transport } from '@modelcontextprotocol/client';
import { excessCode } from './excess.ts';

type Message = Parameters<NonNullable<Transport['onmessage']>>[0];
type Receive = NonNullable<Transport['onmessage']>;

/** Messages of more values block others while they are checked, hashed and sent. A table of some thousand rows fits. */
export const messageValuesMax = 20_000;

/**
 * The same transport. If a message has too many values, its waiter learns that it was withheld, and others learn
 * nothing.
 */
export function withBoundedMessages(transport: Transport): Transport {
  let receive: Receive | undefined;
  return Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => receive,
    set: (given: Receive | undefined) => {
      receive = given && bounded(given);
    },
  });
}

function bounded(receive: Receive): Receive {
  return (message, extra) => {
    const passed = hasAtMost(messageValuesMax, message) ? message : withheld(message);
    if (passed !== null) receive(passed, extra);
  };
}

/** A withheld answer; a request or a notification is dropped, since we fulfil none that is so large. */
function withheld(message: Message): Message | null {
  if ('method' in message || message.id === undefined) return null;
  return { jsonrpc: '2.0', id: message.id, error: { code: excessCode, message: 'The answer holds too much' } };
}

/** Whether the JSON has at most so many values. Walks no further than that, and is not nested itself. */
export function hasAtMost(valuesMax: number, value: unknown): boolean {
  const left: unknown[] = [value];
  for (let seen = 0; left.length > 0; seen += 1) {
    const next = left.pop();
    if (seen >= valuesMax) return false;
    if (typeof next !== 'object' || next === null) continue;
    const items: unknown[] = Object.values(next);
    if (left.length + items.length > valuesMax) return false;
    left.push(...items);
  }
  return true;
}
