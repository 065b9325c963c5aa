import { instantOrNull, instantOf } from '@countersign/contracts';
import type { CreditGrant } from '@countersign/contracts/commercial-gateway';
import type { StoredCreditGrant } from '../store/credit-grants.ts';

export function creditGrantView(grant: StoredCreditGrant): CreditGrant {
  const { id, kind, currency, amountMinor, remainingMinor, reason, expiresAt, createdAt } = grant;
  return {
    ...{ credit_grant_id: id, kind, currency, reason },
    ...{ amount_minor: String(amountMinor), remaining_minor: String(remainingMinor) },
    ...{ expires_at: instantOrNull(expiresAt), created_at: instantOf(createdAt) },
  };
}
