import { AppError } from '@countersign/contracts';
import type { ScimGroup, ScimUser } from '@countersign/contracts/commercial-gateway';
import { canonicalize } from '@countersign/crypto';

type Resource = ScimUser | ScimGroup;

/**
 * Returns the version after a write. Equal attributes keep the version, because identity providers repeat their
 * requests for hours.
 */
export function nextVersion({ before, version }: { before: Resource; version: number }, after: Resource): number {
  return comparable(before) === comparable(after) ? version : version + 1;
}

/** Returns the resource as text for comparison. The order of group members is ignored. */
function comparable(resource: Resource): string {
  const { members, ...others } = 'members' in resource ? resource : { ...resource, members: undefined };
  const sorted = members?.map((member) => canonicalize(member)).sort(); // plain JSON: the schema parsed it
  return canonicalize({ ...others, ...(sorted === undefined ? {} : { members: sorted }) }); // plain JSON too
}

/** Returns a weak entity tag (RFC 7644 §3.14). */
export function weakTag(version: number): string {
  return `W/"${version}"`;
}

/**
 * Throws PRECONDITION_FAILED when If-Match names only other versions. The header is optional, because most identity
 * providers do not send it.
 */
export function requireVersion(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined) return;
  const tags = ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (tags.includes('*') || tags.includes(`"${version}"`)) return;
  throw new AppError('PRECONDITION_FAILED', 'The resource changed since it was read. Read it again.', {
    param: 'If-Match',
  });
}
