import { expect, it } from '@jest/globals';
import type { SignInId } from '@countersign/contracts';
import { SessionWatch } from '../src/index.ts';

it('a session watch checks three times a second, and aborts open requests when the session has ended', async () => {
  const pauses: number[] = [];
  let isLive = true;
  const id = 'sig_1' as SignInId; // any text works as a session id here
  const watch = new SessionWatch({
    readLive: async () => new Set(isLive ? [id] : []),
    onFailure: (error) => {
      throw error;
    },
    pause: async (ms) => {
      pauses.push(ms);
      isLive = pauses.length < 3;
    },
  });
  const over = watch.untilOver(id, new AbortController().signal);
  await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }));
  expect(pauses).toEqual([300, 300, 300]);
});

it('a session watch reports no failure while it is stopped, and aborts open requests', async () => {
  const failures: unknown[] = [];
  let fail: (error: Error) => void = () => undefined;
  let tellAsked = () => undefined as void;
  const requested = new Promise<void>((resolve) => (tellAsked = resolve));
  const watch = new SessionWatch({
    readLive: () => {
      tellAsked();
      return new Promise((_resolve, reject) => (fail = reject));
    },
    onFailure: (error) => failures.push(error),
  });
  const over = watch.untilOver('sig_1' as SignInId, new AbortController().signal); // any text works as a session id here
  await requested;
  const stopped = watch.stop();
  fail(new Error('connect ECONNREFUSED'));
  await stopped;
  expect({ failures, isOver: over.aborted }).toEqual({ failures: [], isOver: true });
});
