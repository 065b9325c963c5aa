import { createHash } from 'node:crypto';
import { AppError } from '@countersign/contracts';
import type { Workspace } from '@countersign/contracts/gateway';

type Changeable = Pick<Workspace, 'id' | 'name'>;

/** A strong ETag of what can be changed of a workspace: equal content has equal tags, whoever wrote it. */
export function workspaceEtag({ id, name }: Changeable): string {
  return `"${createHash('sha256')
    .update(JSON.stringify([id, name]))
    .digest('hex')
    .slice(0, 32)}"`;
}

/** Throws PRECONDITION_FAILED where If-Match is sent and names another. */
export function refuseStaleWorkspace(expected: string | undefined, current: Changeable): void {
  if (expected === undefined || expected === '*' || expected === workspaceEtag(current)) return;
  throw new AppError('PRECONDITION_FAILED', 'The workspace changed since it was read', { param: 'If-Match' });
}
