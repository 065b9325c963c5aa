import type { Entitlements } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import type { NewEvent } from '@countersign/messaging';
import { publishEntitlementChanged, type EntitlementCause } from '../events.ts';
import type { Tx } from '../store/database.ts';
import { lockEntitlementState, writePublished } from '../store/entitlement-states.ts';
import type { EntitlementTerms } from './entitlement-terms.ts';
import { entitlementsOf, termsInForce } from './entitlements-of.ts';

type Announcing = { newEvent: NewEvent; entitlementTerms: EntitlementTerms };
type Change = { orgId: OrgId; now: Date; cause: EntitlementCause };

/** Services that missed an event, or began to listen later, get it within this time. */
const repeatMs = 6 * 3_600_000;

/** Publishes what an organisation may do after a change that this transaction has written. The kernel gets its limit at the next pass. */
export async function announceEntitlements(
  tx: Tx,
  { newEvent, entitlementTerms }: Announcing,
  { orgId, now, cause }: Change,
): Promise<Entitlements> {
  await lockEntitlementState(tx, orgId);
  const entitlements = await entitlementsOf(tx, entitlementTerms, { orgId, now });
  await publishEntitlementChanged(tx, { newEvent }, { orgId, cause, entitlements });
  await writePublished(tx, orgId, { published: publishedText(entitlements), at: now, dueAt: now });
  return entitlements;
}

/**
 * Publishes the entitlements when they differ from the last published ones, or were not published for six hours. The
 * end of a plan's validity and a new plan of the installation cause no other event. Returns the entitlements without
 * use.
 */
export async function announceIfChanged(
  tx: Tx,
  { newEvent, entitlementTerms }: Announcing,
  { orgId, now, dueAt }: { orgId: OrgId; now: Date; dueAt: Date },
): Promise<Entitlements> {
  const state = await lockEntitlementState(tx, orgId);
  const entitlements = await termsInForce(tx, entitlementTerms, { orgId, now });
  const published = publishedText(entitlements);
  const isOld = now.getTime() - state.publishedAt.getTime() >= repeatMs;
  if (!isOld && state.published === published) return entitlements;
  await publishEntitlementChanged(tx, { newEvent }, { orgId, cause: 'schedule', entitlements });
  await writePublished(tx, orgId, { published, at: now, dueAt });
  return entitlements;
}

/** The entitlements that services receive. Use is no part of it. */
function publishedText({ plan_id, source, limits, capabilities, valid_until }: Entitlements): string {
  const ceilings = Object.fromEntries(Object.entries(limits).map(([name, { limit }]) => [name, limit]));
  return canonicalize({ plan_id, source, limits: ceilings, capabilities, valid_until });
}
