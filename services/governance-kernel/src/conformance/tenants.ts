import type { PrincipalId, TenantId } from '@countersign/contracts';
import {
  conformanceTenantPrefix,
  tenantOfVector,
  type FenceScope,
  type LiveVector,
} from '@countersign/contracts/governance-kernel';

/** The principal of a vector's steps, unless they come without credentials. */
export const vectorPrincipal = 'agent' as PrincipalId; // within its schema

/** No real tenant has such a name. */
export function isConformanceTenant(tenant: string): boolean {
  return tenant.startsWith(conformanceTenantPrefix);
}

/** Every scope that the fences of a vector stand around. */
export function scopesOfVector({ id, given }: Pick<LiveVector, 'id' | 'given'>): FenceScope[] {
  return given.fences.map((fence) => scopeOfFence(tenantOfVector(id), fence));
}

export function scopeOfFence(tenant: TenantId, fence: LiveVector['given']['fences'][number]): FenceScope {
  const around = {
    // The org fence of the tenant alone, by its name.
    org: `org:${tenant}`,
    tenant: `tenant:${tenant}`,
    agent: `agent:${tenant}/${vectorPrincipal}`,
    tool: `tool:${tenant}/${fence.tool ?? ''}`,
  }[fence.scope];
  return around as FenceScope; // of the forms that its schema has
}
