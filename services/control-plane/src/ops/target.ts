import { AppError, PrincipalId, type WorkspaceId } from '@countersign/contracts';
import { OpsTarget } from '@countersign/contracts/control-plane';
import { FenceScope, type Approval } from '@countersign/contracts/governance-kernel';
import { meaningOf, samePerson } from '@countersign/policy';

type Kind = 'workspace' | 'agent' | 'tool' | 'connector';

/**
 * The kernel scope of a target. It is always within the person's own tenant, so a stop does not affect other workspaces
 * that use the same server. Throws NOT_FOUND for another workspace, and INVALID_REQUEST for a name that no call could
 * have.
 */
export function scopeOf(target: OpsTarget, workspaceId: WorkspaceId): FenceScope {
  const { kind, name } = partsOf(target);
  if (kind === 'workspace' && name !== workspaceId)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  const scopes: Record<Kind, string> = {
    workspace: `tenant:${workspaceId}`,
    agent: `agent:${workspaceId}/${name}`,
    // All spellings of a name share one scope and one epoch, as in the kernel.
    tool: `tool:${workspaceId}/${meaningOf(name)}`,
    connector: `server:${workspaceId}/${name}`,
  };
  const scope = FenceScope.safeParse(scopes[kind]);
  if (scope.success) return scope.data;
  throw new AppError('INVALID_REQUEST', 'target matches no possible call. Check its spelling', { param: 'target' });
}

/** The target of a scope. `null` for a scope that is not within this workspace. */
export function targetOf(scope: string, workspaceId: WorkspaceId): OpsTarget | null {
  if (scope === `tenant:${workspaceId}`) return OpsTarget.parse(`workspace:${workspaceId}`);
  const kinds = { agent: 'agent', tool: 'tool', connector: 'server' };
  for (const [kind, level] of Object.entries(kinds)) {
    const around = `${level}:${workspaceId}/`;
    if (scope.startsWith(around)) return OpsTarget.parse(`${kind}:${scope.slice(around.length)}`);
  }
  return null;
}

/** Whether the target covers the call of an approval. */
export function covers(target: OpsTarget, { requested_by, tool }: Pick<Approval, 'requested_by' | 'tool'>): boolean {
  const { kind, name } = partsOf(target);
  if (kind === 'workspace') return true;
  if (kind === 'agent') return samePerson(requested_by, PrincipalId.parse(name));
  if (tool === null) return false;
  return kind === 'tool' ? meaningOf(tool) === meaningOf(name) : meaningOf(tool).startsWith(`${name}.`);
}

/** The kind of a target, and its name. */
export function partsOf(target: OpsTarget): { kind: Kind; name: string } {
  const at = target.indexOf(':');
  return { kind: target.slice(0, at) as Kind, name: target.slice(at + 1) }; // the schema allows no other kind
}
