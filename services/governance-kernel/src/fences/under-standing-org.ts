import { AppError, type TenantId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { OrgMoved } from './in-force.ts';
import type { KnownOrgs } from './known-orgs.ts';

/** A tenant that moves more often than this within one decision is an attack or a fault. */
const orgMovesMax = 5;

/** Under the fences of the organisation that the tenant is in. Throws RECEIPT_STORE_UNAVAILABLE when it keeps moving. */
export async function underStandingOrg<Done extends { kind: string }>(
  orgs: KnownOrgs,
  tenant: TenantId,
  attempt: (org: OrgId | null) => Promise<Done | OrgMoved>,
): Promise<Exclude<Done, OrgMoved>> {
  for (let attempts = 0; attempts < orgMovesMax; attempts += 1) {
    const done = await attempt(orgs.of(tenant));
    if (done.kind !== 'org_moved') return done as Exclude<Done, OrgMoved>; // the one kind that is left out
    orgs.learn(tenant, (done as OrgMoved).org); // the kind says so
  }
  throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'The tenant keeps moving; nothing was executed');
}
