import type { Entitlements } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { entitlementsOf, type UseElsewhere } from './entitlements-of.ts';

type Deps = Pick<Context, 'directory' | 'snapshot' | 'entitlementTerms' | 'now' | 'log'>;

/**
 * Returns the current entitlements with the usage that the control plane counts. That usage is `null` while the control
 * plane does not answer.
 */
export async function countedEntitlements(deps: Deps, orgId: OrgId): Promise<Entitlements> {
  const elsewhere = await useElsewhere(deps, orgId);
  const at = { orgId, now: deps.now() };
  return deps.snapshot((reader) => entitlementsOf(reader, deps.entitlementTerms, at, elsewhere));
}

async function useElsewhere({ directory, log }: Deps, orgId: OrgId): Promise<UseElsewhere | undefined> {
  try {
    return (await directory.getOrgUse({ params: { org_id: orgId } })).body;
  } catch (error) {
    log.warn('org_use.unavailable', { error });
    return undefined;
  }
}
