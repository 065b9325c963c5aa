import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import { ifMatchTags } from '@countersign/service-kit';

/** A draft is written under the version that was read. Throws PRECONDITION_REQUIRED. */
export function requiredTags(req: Pick<IncomingMessage, 'headers'>): string[] {
  const tags = ifMatchTags(req);
  if (tags !== null) return tags;
  throw new AppError('PRECONDITION_REQUIRED', 'Send If-Match with the ETag you read', { param: 'If-Match' });
}
