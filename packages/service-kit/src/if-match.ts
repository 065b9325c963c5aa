import { AppError } from '@countersign/contracts';
import type { IncomingMessage } from 'node:http';

/**
 * A strong entity tag (RFC 9110 §8.8.3), or one whose quotes a shell has eaten; weak ones never match, since If-Match compares strongly
 * (§13.1.1).
 */
const strongTag = /^"([\x21\x23-\x7e]*)"$|^((?!W\/|\*$)[\x21\x23-\x7e]+)$/;

/** The entity tags of If-Match, without quotes; null without the header. `*` matches nothing here: a view must have been read. */
export function ifMatchTags(req: Pick<IncomingMessage, 'headers'>): string[] | null {
  const header = req.headers['if-match'];
  if (header === undefined) return null;
  return header.split(',').flatMap((tag) => {
    const match = strongTag.exec(tag.trim());
    return match?.[1] ?? match?.[2] ?? [];
  });
}

/** Throws PRECONDITION_REQUIRED without If-Match and PRECONDITION_FAILED when it names another version. */
export function requireMatch(tags: readonly string[] | null, current: string): void {
  if (tags === null)
    throw new AppError('PRECONDITION_REQUIRED', 'Send If-Match with the ETag you read', { param: 'If-Match' });
  if (!tags.includes(current))
    throw new AppError('PRECONDITION_FAILED', 'It changed since it was read', { param: 'If-Match' });
}

export function etag(version: string): { etag: string } {
  return { etag: `"${version}"` };
}
