import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { LiveVector, VectorId } from '@countersign/contracts/governance-kernel';
import type { FenceScope } from '@countersign/contracts/governance-kernel';

const prefix = 'conformance:';

/** Whom the steps of a vector are made by, unless they come with nobody's credentials. */
export const vectorPrincipal = 'agent' as PrincipalId; // within its schema

/**
 * The tenant in which a vector is executed. Each run uses it again: what a run leaves behind does not grow with the number of runs,
 * except for its receipts.
 */
export function tenantOfVector(id: VectorId): TenantId {
  return `${prefix}${id}` as TenantId; // the vector's schema keeps it short enough
}

/** Nobody is ever such a tenant. */
export function isConformanceTenant(tenant: string): boolean {
  return tenant.startsWith(prefix);
}

/** Every scope that the fences of a vector stand around. */
export function scopesOfVector({ id, given }: Pick<LiveVector, 'id' | 'given'>): FenceScope[] {
  return given.fences.map((fence) => scopeOfFence(tenantOfVector(id), fence));
}

export function scopeOfFence(tenant: TenantId, fence: LiveVector['given']['fences'][number]): FenceScope {
  const around = {
    tenant: `tenant:${tenant}`,
    agent: `agent:${tenant}/${vectorPrincipal}`,
    tool: `tool:${tenant}/${fence.tool ?? ''}`,
  }[fence.scope];
  return around as FenceScope; // of the forms that its schema has
}
