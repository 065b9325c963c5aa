import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { openEventStream } from '@countersign/service-kit';

const stallMs = 50;

/** A connection whose other end never reads: no write completes. */
class UnreadSocket extends Socket {
  override _write(): void {}
  override _writev(): void {}
}

/** A stream to a reader that never reads. */
function openUnread() {
  const socket = new UnreadSocket();
  const res = new ServerResponse(new IncomingMessage(socket));
  res.assignSocket(socket);
  const ending = new AbortController();
  return { res, ending, stream: openEventStream({ res, signal: ending.signal }, { stallMs }) };
}

it('an event stream disconnects a reader that never reads while the sender waits for space in the buffer', async () => {
  const { res, stream } = openUnread();
  while (await stream.send({ data: 'x'.repeat(100_000) }));
  expect([stream.ended.aborted, res.destroyed]).toEqual([true, true]);
});

it('an event stream disconnects a reader that never reads when it ends, even if no sender waits', async () => {
  const { res, ending } = openUnread();
  const closed = once(res, 'close');
  ending.abort();
  await closed;
  expect([res.destroyed, res.writableFinished]).toEqual([true, false]);
});
