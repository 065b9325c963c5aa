import { AppError, PrincipalId, type TenantId } from '@countersign/contracts';
import { FenceScope, type OrgId } from '@countersign/contracts/governance-kernel';
import { fenceScopesOfTool, meaningOf, type FenceInForce } from '@countersign/policy';
import { isToolName } from '../../registry/is-tool-name.ts';

export type Fenced = {
  tenant: TenantId;
  /** The organisation of the tenant. */
  org: OrgId | null;
  principal: PrincipalId;
  /** All tools that the call would run. For a model call, those that its provider may run. */
  tools: readonly string[];
};

/** The scopes of fences that could stop this call, the widest first. */
export function scopesAround({ tenant, org, principal, tools }: Fenced): FenceScope[] {
  const scopes = org === null ? ['system'] : ['system', `org:${org}`];
  scopes.push(`tenant:${tenant}`, `agent:${tenant}/${principal}`);
  for (const tool of tools) scopes.push(...fenceScopesOfTool(tenant, tool));
  // Two spellings of one tool, and two tools of one server, share scopes.
  return [...new Set(scopes)] as FenceScope[]; // built from valid parts
}

/**
 * The canonical spelling of a fence's scope, with a tool by the canonical form of its name. Throws INVALID_REQUEST for
 * a name that no call could have, since a fence on it would stop no call.
 */
export function canonicalScope(scope: FenceScope): FenceScope {
  const level = levelOf(scope);
  const [around, name] = [scope.slice(0, scope.indexOf('/') + 1), scope.slice(scope.indexOf('/') + 1)];
  const isNamed = level === 'tool' ? isToolName(name) : level !== 'agent' || PrincipalId.safeParse(name).success;
  const canonical = FenceScope.safeParse(level === 'tool' ? `${around}${meaningOf(name)}` : scope);
  if (isNamed && canonical.success) return canonical.data;
  throw new AppError('INVALID_REQUEST', `scope matches no ${level} of a possible call. Check its spelling`, {
    param: 'scope',
  });
}

export function levelOf(scope: FenceScope): FenceInForce['level'] {
  return scope.split(':', 1)[0] as FenceInForce['level']; // the schema of scopes allows only these levels
}

/** The tenant of a scope. `null` for a scope that covers several tenants. */
export function tenantOf(scope: FenceScope): TenantId | null {
  const level = levelOf(scope);
  const isOfAll = level === 'system' || level === 'org' || (level === 'server' && !scope.includes('/'));
  if (isOfAll) return null;
  const [tenant = '*'] = scope.slice(scope.indexOf(':') + 1).split('/', 1);
  return tenant === '*' ? null : (tenant as TenantId); // the scope's schema ensures it
}

/** The organisation of a scope. `null` for scopes of other levels. */
export function orgOfScope(scope: FenceScope): OrgId | null {
  return levelOf(scope) === 'org' ? (scope.slice('org:'.length) as OrgId) : null; // the scope's schema ensures it
}
