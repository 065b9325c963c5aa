import type { BillingCaller } from '../billing-deps.ts';
import { recordAudit } from '../store/audit.ts';
import type { StoredCreditGrant } from '../store/credit-grants.ts';
import type { Tx } from '../store/database.ts';

type AuditedGrant = { action: 'created' | 'expired' | 'refunded'; caller: BillingCaller; at: Date };

export async function auditCreditGrant(
  tx: Tx,
  { id, kind, currency, amountMinor, remainingMinor, reason }: StoredCreditGrant,
  { action, caller: { orgId, actor, requestId }, at }: AuditedGrant,
): Promise<void> {
  const amounts = { currency, amount_minor: String(amountMinor), remaining_minor: String(remainingMinor) };
  const act = { scope: orgId, action: `credit_grant.${action}`, actor, requestId, subject: id };
  await recordAudit(tx, { ...act, verdict: 'allow', details: { kind, ...amounts, reason } }, at);
}
