import { AppError, type WorkspaceId } from '@countersign/contracts';
import { OpsTarget } from '@countersign/contracts/control-plane';
import { FenceScope, type Approval } from '@countersign/contracts/governance-kernel';
import { meaningOf } from '@countersign/policy';

type Kind = 'workspace' | 'agent' | 'tool' | 'connector';

/**
 * The kernel's name for what a person of this workspace stops: always of their own tenant, since another workspace goes on calling the
 * same server. Throws NOT_FOUND for another workspace, and INVALID_REQUEST for a name that no call could have.
 */
export function scopeOf(target: OpsTarget, workspaceId: WorkspaceId): FenceScope {
  const { kind, name } = partsOf(target);
  if (kind === 'workspace' && name !== workspaceId) throw new AppError('NOT_FOUND', 'There is no such object');
  const scopes: Record<Kind, string> = {
    workspace: `tenant:${workspaceId}`,
    agent: `agent:${workspaceId}/${name}`,
    // One scope for all spellings, as the kernel keeps it: its epoch is one too.
    tool: `tool:${workspaceId}/${meaningOf(name)}`,
    connector: `server:${workspaceId}/${name}`,
  };
  const scope = FenceScope.safeParse(scopes[kind]);
  if (scope.success) return scope.data;
  throw new AppError('INVALID_REQUEST', 'target names nothing that a call could have', { param: 'target' });
}

/** The same back; null for what stands around more than this workspace. */
export function targetOf(scope: string, workspaceId: WorkspaceId): OpsTarget | null {
  if (scope === `tenant:${workspaceId}`) return OpsTarget.parse(`workspace:${workspaceId}`);
  const kinds = { agent: 'agent', tool: 'tool', connector: 'server' };
  for (const [kind, level] of Object.entries(kinds)) {
    const around = `${level}:${workspaceId}/`;
    if (scope.startsWith(around)) return OpsTarget.parse(`${kind}:${scope.slice(around.length)}`);
  }
  return null;
}

/** Whether the call that an approval is for is within the target. */
export function covers(target: OpsTarget, { requested_by, tool }: Pick<Approval, 'requested_by' | 'tool'>): boolean {
  const { kind, name } = partsOf(target);
  if (kind === 'workspace') return true;
  if (kind === 'agent') return requested_by === name;
  if (tool === null) return false;
  return kind === 'tool' ? meaningOf(tool) === meaningOf(name) : meaningOf(tool).startsWith(`${name}.`);
}

/** The kind of a target, and its name. */
export function partsOf(target: OpsTarget): { kind: Kind; name: string } {
  const at = target.indexOf(':');
  return { kind: target.slice(0, at) as Kind, name: target.slice(at + 1) }; // the schema knows no other
}
