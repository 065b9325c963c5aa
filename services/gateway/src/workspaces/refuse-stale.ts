import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import { ifMatchTags } from '@countersign/service-kit';

type Stale = {
  /** The ETag of the current version. */
  current: string;
  /** The message of the error. */
  message: string;
};

/** Throws PRECONDITION_FAILED when If-Match is sent and does not contain the current version. */
export function refuseStale(req: Pick<IncomingMessage, 'headers'>, { current, message }: Stale): void {
  const tags = ifMatchTags(req);
  if (tags === null || req.headers['if-match'] === '*' || tags.some((tag) => `"${tag}"` === current)) return;
  throw new AppError('PRECONDITION_FAILED', message, { param: 'If-Match' });
}
