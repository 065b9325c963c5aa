import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import { ifMatchTags } from '@countersign/service-kit';

/** The tags of If-Match, since a draft is written against the version that was read. Throws PRECONDITION_REQUIRED. */
export function requiredTags(req: Pick<IncomingMessage, 'headers'>): string[] {
  const tags = ifMatchTags(req);
  if (tags !== null) return tags;
  throw new AppError('PRECONDITION_REQUIRED', 'If-Match is missing. Send the ETag of the version that you read', {
    param: 'If-Match',
  });
}
