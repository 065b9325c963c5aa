import { AppError, type AnyRoute, type ApiKeyScope } from '@countersign/contracts';
import type { StoredApiKey } from '../store/api-keys.ts';
import type { Membership } from '../store/workspaces.ts';
import type { addressedWorkspace } from '../workspaces/addressed-workspace.ts';
import { lowerRole } from '../workspaces/role.ts';

/**
 * The membership with which a key acts. A key belongs to one workspace, so its requests need not name the workspace.
 * `null` when the request names a different workspace.
 */
export function membershipOfKey(
  { membership, role }: StoredApiKey,
  addressed: ReturnType<typeof addressedWorkspace>,
): Membership | null {
  const { workspaceId } = membership;
  if (addressed.kind === 'named' && addressed.workspaceId !== workspaceId) return null;
  return { ...membership, role: lowerRole(role, membership.role) };
}

/** `null` when the scopes of the key allow the route. The role is checked separately. */
export function refusalOfKey({ scopes }: StoredApiKey, route: AnyRoute): AppError | null {
  const isForPeople = route.sessionOnly === true && route.keyScopes === undefined;
  if (isForPeople || route.needsPresence === true)
    return new AppError('PERMISSION_DENIED', 'API keys cannot use this route. Sign in as a person');
  const accepted = scopesOf(route);
  if (accepted.some((scope) => scopes.includes(scope))) return null;
  const needed = accepted.join(' or ');
  return new AppError('PERMISSION_DENIED', `This needs a key with the scope ${needed}`, {
    details: { needed, scopes },
  });
}

function scopesOf({ method, auth, keyScopes }: AnyRoute): readonly ApiKeyScope[] {
  if (keyScopes !== undefined) return keyScopes;
  if (auth === 'agent') return ['agent'];
  return [method === 'GET' ? 'read' : 'write'];
}
