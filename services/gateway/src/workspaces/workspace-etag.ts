import { createHash } from 'node:crypto';
import type { Workspace } from '@countersign/contracts/gateway';

type Changeable = Pick<Workspace, 'id' | 'name'>;

/** A strong ETag of the changeable part of a workspace: equal content has equal tags. */
export function workspaceEtag({ id, name }: Changeable): string {
  return `"${createHash('sha256')
    .update(JSON.stringify([id, name]))
    .digest('hex')
    .slice(0, 32)}"`;
}
