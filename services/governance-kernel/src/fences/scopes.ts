import { AppError, PrincipalId, type TenantId } from '@countersign/contracts';
import { FenceScope, type OrgId } from '@countersign/contracts/governance-kernel';
import { fenceScopesOfTool, meaningOf, type FenceInForce } from '@countersign/policy';
import { isToolName } from '../registry/is-tool-name.ts';

export type Fenced = {
  tenant: TenantId;
  /** The organisation of the tenant. */
  org: OrgId | null;
  principal: PrincipalId;
  /** All that the call would run: of a model call, what it lets its provider run. */
  tools: readonly string[];
};

/** The scopes of fences that could stop this call, the widest first. */
export function scopesAround({ tenant, org, principal, tools }: Fenced): FenceScope[] {
  const ofOrg = org === null ? [] : [`org:${org}`];
  const scopes = new Set(['system', ...ofOrg, `tenant:${tenant}`, `agent:${tenant}/${principal}`]);
  for (const tool of tools) for (const scope of fenceScopesOfTool(tenant, tool)) scopes.add(scope);
  return [...scopes] as FenceScope[]; // made of what makes one
}

/**
 * The one spelling under which a fence is kept: a tool by what its name means. Throws INVALID_REQUEST for a name that
 * no call could have, since a fence around it would stop no call.
 */
export function canonicalScope(scope: FenceScope): FenceScope {
  const level = levelOf(scope);
  const [around, name] = [scope.slice(0, scope.indexOf('/') + 1), scope.slice(scope.indexOf('/') + 1)];
  const isNamed = level === 'tool' ? isToolName(name) : level !== 'agent' || PrincipalId.safeParse(name).success;
  const canonical = FenceScope.safeParse(level === 'tool' ? `${around}${meaningOf(name)}` : scope);
  if (isNamed && canonical.success) return canonical.data;
  throw new AppError('INVALID_REQUEST', `scope names no ${level} that a call could have`, { param: 'scope' });
}

export function levelOf(scope: FenceScope): FenceInForce['level'] {
  return scope.split(':', 1)[0] as FenceInForce['level']; // the schema knows no other
}

/** Null for what stands around several tenants. */
export function tenantOf(scope: FenceScope): TenantId | null {
  const level = levelOf(scope);
  const isOfAll = level === 'system' || level === 'org' || (level === 'server' && !scope.includes('/'));
  if (isOfAll) return null;
  const [tenant = '*'] = scope.slice(scope.indexOf(':') + 1).split('/', 1);
  return tenant === '*' ? null : (tenant as TenantId); // the scope's schema holds it
}

/** Null for what stands around no organisation. */
export function orgOfScope(scope: FenceScope): OrgId | null {
  return levelOf(scope) === 'org' ? (scope.slice('org:'.length) as OrgId) : null; // the scope's schema holds it
}
