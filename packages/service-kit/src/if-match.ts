import { AppError } from '@countersign/contracts';
import type { IncomingMessage } from 'node:http';

/**
 * A strong entity tag (RFC 9110 §8.8.3), or one whose quotes a shell removed. Weak tags never match, since If-Match
 * compares strongly (§13.1.1).
 */
const strongTag = /^"([\x21\x23-\x7e]*)"$|^((?!W\/|\*$)[\x21\x23-\x7e]+)$/;

/**
 * The entity tags of If-Match, without quotes. `null` without the header. `*` matches nothing here, since the caller
 * must have read a version.
 */
export function ifMatchTags(req: Pick<IncomingMessage, 'headers'>): string[] | null {
  const header = req.headers['if-match'];
  if (header === undefined) return null;
  return header.split(',').flatMap((tag) => {
    const match = strongTag.exec(tag.trim());
    return match?.[1] ?? match?.[2] ?? [];
  });
}

/** Throws PRECONDITION_REQUIRED without If-Match, and PRECONDITION_FAILED when the header lacks the current version. */
export function requireMatch(tags: readonly string[] | null, current: string): void {
  if (tags === null)
    throw new AppError('PRECONDITION_REQUIRED', 'If-Match is missing. Send the ETag of the version that you read', {
      param: 'If-Match',
    });
  if (!tags.includes(current))
    throw new AppError('PRECONDITION_FAILED', 'The object changed after you read it. Read it again', {
      param: 'If-Match',
    });
}

export function etag(version: string): { etag: string } {
  return { etag: `"${version}"` };
}
