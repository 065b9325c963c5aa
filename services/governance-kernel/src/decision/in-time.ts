import { Readable } from 'node:stream';
import { NotSent, stoppedWhileWaiting } from './not-sent.ts';

type Sendable = { mayStillSend(): Promise<boolean> | null };

/**
 * The body of a permitted call, which is read when a connection is available. The body is not sent if the call was
 * stopped while it waited, or if its state cannot be read. The request then fails with NotSent.
 */
export function inTime(permit: Sendable, body: Buffer): Readable {
  return Readable.from(checked(permit, body), { objectMode: false });
}

async function* checked(permit: Sendable, body: Buffer): AsyncGenerator<Buffer> {
  if ((await permit.mayStillSend()) === false) throw new NotSent(stoppedWhileWaiting);
  yield body;
}
