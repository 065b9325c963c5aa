import type { Entitlements } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { NewEvent } from '@countersign/messaging';
import { publishEntitlementChanged, type EntitlementCause } from '../events.ts';
import type { Tx } from '../store/database.ts';
import type { EntitlementTerms } from './entitlement-terms.ts';
import { entitlementsOf } from './entitlements-of.ts';

type Change = { orgId: OrgId; now: Date; cause: EntitlementCause };

/** Publishes what an organisation may do after a change that this transaction has written. */
export async function announceEntitlements(
  tx: Tx,
  { newEvent, entitlementTerms }: { newEvent: NewEvent; entitlementTerms: EntitlementTerms },
  { orgId, now, cause }: Change,
): Promise<Entitlements> {
  const entitlements = await entitlementsOf(tx, entitlementTerms, { orgId, now });
  await publishEntitlementChanged(tx, { newEvent }, { orgId, cause, entitlements });
  return entitlements;
}
