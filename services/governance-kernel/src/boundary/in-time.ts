import { Readable } from 'node:stream';
import { NotSent } from './not-sent.ts';

type Sendable = { mayStillSend(): Promise<boolean> | null };

/**
 * The body of a permitted call, read when there is a connection for it. A call that waited for one, or for its turn, is
 * not sent past a fence that was set in the meantime: then the request fails with NotSent.
 */
export function inTime(permit: Sendable, body: Buffer): Readable {
  return Readable.from(checked(permit, body), { objectMode: false });
}

async function* checked(permit: Sendable, body: Buffer): AsyncGenerator<Buffer> {
  if ((await permit.mayStillSend()) === false)
    throw new NotSent(
      'The call had to wait, and then a fence stood before it, its agent, credential or tool was withdrawn, or its state was unknown: it was not sent',
    );
  yield body;
}
