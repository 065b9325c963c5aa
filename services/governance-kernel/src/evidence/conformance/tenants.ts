import { PrincipalId, type TenantId } from '@countersign/contracts';
import {
  conformanceTenantPrefix,
  tenantOfVector,
  type FenceScope,
  type LiveVector,
} from '@countersign/contracts/governance-kernel';

/** The principal that a vector's calls name. */
export const vectorPrincipal = PrincipalId.parse('agent');

/** Whether the name belongs to a conformance tenant. No real tenant has such a name. */
export function isConformanceTenant(tenant: string): boolean {
  return tenant.startsWith(conformanceTenantPrefix);
}

/** Every scope of the fences of a vector. */
export function scopesOfVector({ id, given }: Pick<LiveVector, 'id' | 'given'>): FenceScope[] {
  return given.fences.map((fence) => scopeOfFence(tenantOfVector(id), fence));
}

export function scopeOfFence(tenant: TenantId, fence: LiveVector['given']['fences'][number]): FenceScope {
  const around = {
    // The org has the name of the tenant, so its fence covers only this tenant.
    org: `org:${tenant}`,
    tenant: `tenant:${tenant}`,
    agent: `agent:${tenant}/${vectorPrincipal}`,
    tool: `tool:${tenant}/${fence.tool ?? ''}`,
  }[fence.scope];
  return around as FenceScope; // of the forms that its schema has
}
