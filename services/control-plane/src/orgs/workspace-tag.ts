import { AppError } from '@countersign/contracts';
import { PublicProof } from '@countersign/contracts/control-plane';
import { ifMatchTags } from '@countersign/service-kit';

type Tagged = {
  /** The ETag of what the gateway keeps. */
  etag: string;
  publicProof: PublicProof;
};

const form = /^(.+)\.([a-z]+)$/;

/** The ETag of all that can be changed of a workspace. */
export function workspaceTag({ etag, publicProof }: Tagged): string {
  return `${etag.slice(0, -1)}.${publicProof}"`;
}

/** The version in If-Match. Throws PRECONDITION_REQUIRED, and PRECONDITION_FAILED for what was no answer here. */
export function parseWorkspaceTag(sent: string | undefined): Tagged {
  if (sent === undefined || sent === '*')
    throw new AppError('PRECONDITION_REQUIRED', 'Send If-Match with the ETag you read', { param: 'If-Match' });
  const [tag = ''] = ifMatchTags({ headers: { 'if-match': sent } }) ?? [];
  const [, gateway = '', setting] = form.exec(tag) ?? [];
  const publicProof = PublicProof.safeParse(setting);
  if (!publicProof.success) throw staleWorkspace();
  return { etag: `"${gateway}"`, publicProof: publicProof.data };
}

export function staleWorkspace(): AppError {
  return new AppError('PRECONDITION_FAILED', 'The workspace changed since it was read', { param: 'If-Match' });
}
