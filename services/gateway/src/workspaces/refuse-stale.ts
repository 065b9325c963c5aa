import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import { ifMatchTags } from '@countersign/service-kit';

type Stale = {
  /** The ETag of what stands. */
  current: string;
  /** Says to a person what changed. */
  message: string;
};

/** Throws PRECONDITION_FAILED where If-Match is sent and names another version. */
export function refuseStale(req: Pick<IncomingMessage, 'headers'>, { current, message }: Stale): void {
  const tags = ifMatchTags(req);
  if (tags === null || req.headers['if-match'] === '*' || tags.some((tag) => `"${tag}"` === current)) return;
  throw new AppError('PRECONDITION_FAILED', message, { param: 'If-Match' });
}
