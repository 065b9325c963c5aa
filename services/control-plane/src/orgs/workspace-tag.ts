import { AppError } from '@countersign/contracts';
import { PublicProof } from '@countersign/contracts/control-plane';
import { ifMatchTags } from '@countersign/service-kit';

type Tagged = {
  /** The ETag of the part of the workspace that the gateway stores. */
  etag: string;
  publicProof: PublicProof;
};

const form = /^(.+)\.([a-z]+)$/;

/** The ETag of all changeable members of a workspace. */
export function workspaceTag({ etag, publicProof }: Tagged): string {
  return `${etag.slice(0, -1)}.${publicProof}"`;
}

/**
 * The version in If-Match. Throws PRECONDITION_REQUIRED, and PRECONDITION_FAILED for a tag that this service did not
 * issue.
 */
export function parseWorkspaceTag(sent: string | undefined): Tagged {
  if (sent === undefined || sent === '*')
    throw new AppError('PRECONDITION_REQUIRED', 'If-Match is missing. Send the ETag of the version that you read', {
      param: 'If-Match',
    });
  const [tag = ''] = ifMatchTags({ headers: { 'if-match': sent } }) ?? [];
  const [, gateway = '', setting] = form.exec(tag) ?? [];
  const publicProof = PublicProof.safeParse(setting);
  if (!publicProof.success) throw staleWorkspace();
  return { etag: `"${gateway}"`, publicProof: publicProof.data };
}

export function staleWorkspace(): AppError {
  return new AppError('PRECONDITION_FAILED', 'The workspace changed after you read it. Read it again', {
    param: 'If-Match',
  });
}
