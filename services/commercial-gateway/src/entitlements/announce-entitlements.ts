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

/** Entitlements are published at least this often, for services that missed an event or started later. */
const repeatMs = 6 * 3_600_000;

/**
 * Publishes the entitlements of an organisation after a change that this transaction wrote. The next pass of the limit
 * courier sets the limit of tool calls at the kernel.
 */
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
 * Publishes the entitlements when they differ from the last published ones, or were not published for six hours. This
 * covers the end of a plan's validity and a new base plan, which cause no event. Returns the entitlements without
 * usage. `isRepeated`: the six hours had passed.
 */
export async function announceIfChanged(
  tx: Tx,
  { newEvent, entitlementTerms }: Announcing,
  { orgId, now, dueAt }: { orgId: OrgId; now: Date; dueAt: Date },
): Promise<{ entitlements: Entitlements; isRepeated: boolean }> {
  const state = await lockEntitlementState(tx, orgId);
  const entitlements = await termsInForce(tx, entitlementTerms, { orgId, now });
  const published = publishedText(entitlements);
  const isOld = now.getTime() - state.publishedAt.getTime() >= repeatMs;
  if (!isOld && state.published === published) return { entitlements, isRepeated: false };
  await publishEntitlementChanged(tx, { newEvent }, { orgId, cause: 'schedule', entitlements });
  await writePublished(tx, orgId, { published, at: now, dueAt });
  return { entitlements, isRepeated: isOld && state.published !== '' };
}

/** Returns the published entitlements as canonical text, without usage. */
function publishedText({ plan_id, source, limits, capabilities, valid_until }: Entitlements): string {
  const ceilings = Object.fromEntries(Object.entries(limits).map(([name, { limit }]) => [name, limit]));
  return canonicalize({ plan_id, source, limits: ceilings, capabilities, valid_until });
}
