import { expect, it } from '@jest/globals';
import type { SignInId } from '@countersign/contracts';
import { SessionWatch } from '../src/index.ts';

it('says nothing of an answer that fails while it is stopped, and cuts what is open', async () => {
  const failures: unknown[] = [];
  let fail: (error: Error) => void = () => undefined;
  let tellAsked = () => undefined as void;
  const asked = new Promise<void>((resolve) => (tellAsked = resolve));
  const watch = new SessionWatch({
    readLive: () => {
      tellAsked();
      return new Promise((_resolve, reject) => (fail = reject));
    },
    onFailure: (error) => failures.push(error),
  });
  const over = watch.untilOver('sig_1' as SignInId, new AbortController().signal); // any text stands for a session here
  await asked;
  const stopped = watch.stop();
  fail(new Error('connect ECONNREFUSED'));
  await stopped;
  expect({ failures, isOver: over.aborted }).toEqual({ failures: [], isOver: true });
});
