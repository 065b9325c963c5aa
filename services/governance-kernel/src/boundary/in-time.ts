import { Readable } from 'node:stream';
import type { Permit } from './dispatch.ts';
import { NotSent } from './not-sent.ts';

/**
 * The body of a permitted call, read when there is a connection for it. A call that waited for one, or for its turn behind others, is not
 * sent past a fence that was set meanwhile: then the request fails with NotSent.
 */
export function inTime(permit: Pick<Permit, 'mayStillSend'>, body: Buffer): Readable {
  return Readable.from(checked(permit, body), { objectMode: false });
}

async function* checked(permit: Pick<Permit, 'mayStillSend'>, body: Buffer): AsyncGenerator<Buffer> {
  if ((await permit.mayStillSend()) === false)
    throw new NotSent('The call had to wait until a fence stood before it, so it was not sent');
  yield body;
}
