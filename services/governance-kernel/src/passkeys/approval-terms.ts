import { AppError, type TenantId } from '@countersign/contracts';
import { columnsOf, instantMs, integer, nullable, selectByKey, text, bool } from '../ledger/columns.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { Control } from '../ledger/control.ts';

/** What a vote of a tenant needs. Times are milliseconds since the epoch. */
export type ApprovalTermsRow = {
  readonly tenant: TenantId;
  /** Of the setting at its source. 0: nobody has set anything. */
  readonly version: number;
  readonly signaturesOnly: boolean;
  /** Null: the tenant has never enrolled a passkey. */
  readonly passkeysSinceMs: number | null;
  readonly updatedAtMs: number;
};

/** A vote sees them as they are at its commit, so none slips through beside the enrolment of the first passkey. */
export const approvalTerms: Control<TenantId, ApprovalTermsRow> = {
  name: 'approval_terms',
  guard: 'epoch',
  ...selectByKey('approval_terms', ['tenant_id']),
  ...columnsOf<ApprovalTermsRow>({
    tenant: text('tenant_id'),
    version: integer('version'),
    signaturesOnly: bool('signatures_only'),
    passkeysSinceMs: nullable(instantMs('passkeys_since')),
    updatedAtMs: instantMs('updated_at'),
  }),
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};

/** What a vote comes with. A bearer says who votes; a signature is by a key of the approver; an assertion is by a passkey. */
export type VoteProof = 'bearer' | 'signature' | 'passkey';

/** Throws PASSKEY_REQUIRED where this proof approves nothing of this tenant. */
export function requireProof(batch: Pick<LedgerBatch, 'row'>, tenant: TenantId, proof: VoteProof): void {
  const missing = missingProof(batch.row(approvalTerms, tenant), proof);
  if (missing !== null) throw new AppError('PASSKEY_REQUIRED', missing);
}

/** Why this proof approves nothing under these terms, in words for people; null: it does. */
function missingProof(terms: ApprovalTermsRow | null, proof: VoteProof): string | null {
  if (terms === null || proof === 'passkey') return null;
  if (terms.passkeysSinceMs !== null) return 'Passkeys are enrolled here, so nothing else approves';
  return terms.signaturesOnly && proof === 'bearer' ? 'Nothing but a signature approves here' : null;
}
