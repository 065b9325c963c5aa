import { instantOf, AppError, UserId } from '@countersign/contracts';
import type { EntitlementOverride, OrgSettings } from '@countersign/contracts/commercial-gateway';
import { canonicalize } from '@countersign/crypto';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { announceEntitlements } from '../entitlements/announce-entitlements.ts';
import { publishOrgSettingsUpdated } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import { findOrgSettings, writeOverride, writeSuspension } from '../store/org-settings.ts';

type NewSettings = {
  suspension: { reason: string } | null;
  override: Omit<EntitlementOverride, 'created_at'> | null;
};

/**
 * Suspends or resumes the organisation and replaces its override. A repeated call with equal settings changes nothing
 * and keeps the time of the first call. Throws INVALID_REQUEST for a new override that ends in the past.
 */
export function putOrgSettings(deps: BillingDeps, settings: NewSettings, caller: BillingCaller): Promise<OrgSettings> {
  const { orgId, actor, requestId } = caller;
  return inBillingAccount(deps, orgId, async (tx, at) => {
    const before = await findOrgSettings(tx, orgId);
    const after = settingsAfter(before, settings, { actor, at });
    if (canonicalize(after) === canonicalize(before)) return before;
    if (after.override !== before.override) assertFuture(after.override, at);
    await writeSuspension(tx, orgId, after.suspension);
    await writeOverride(tx, orgId, { override: after.override, by: actor });
    await publishOrgSettingsUpdated(tx, deps, { orgId, settings: after });
    await announceEntitlements(tx, deps, { orgId, now: at, cause: 'settings' });
    const act = { scope: orgId, action: 'org_settings.put', actor, requestId, subject: orgId } as const;
    await recordAudit(tx, { ...act, verdict: 'allow', details: { before, after } }, at);
    return after;
  });
}

function settingsAfter(
  before: OrgSettings,
  { suspension, override }: NewSettings,
  { actor, at }: { actor: string; at: Date },
): OrgSettings {
  const now = instantOf(at);
  const isSuspended = before.suspension !== null && before.suspension.reason === suspension?.reason;
  const suspended = suspension && { ...suspension, suspended_by: UserId.parse(actor), suspended_at: now };
  return {
    suspension: isSuspended ? before.suspension : suspended,
    override: isSame(before.override, override) ? before.override : override && { ...override, created_at: now },
  };
}

function isSame(before: EntitlementOverride | null, override: NewSettings['override']): boolean {
  if (before === null || override === null) return before === override;
  return canonicalize(before) === canonicalize({ ...override, created_at: before.created_at });
}

function assertFuture(override: EntitlementOverride | null, at: Date): void {
  if (override === null || new Date(override.expires_at) > at) return;
  throw new AppError('INVALID_REQUEST', 'override.expires_at must be in the future', { param: 'override.expires_at' });
}
