import { AppError, type TenantId } from '@countersign/contracts';
import type { ApprovalDecision } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, integer, nullable, selectByKey, text, bool } from '../ledger/columns.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { Control } from '../ledger/control.ts';

/** What a vote of a tenant needs. Times are milliseconds since the epoch. */
export type ApprovalTermsRow = {
  readonly tenant: TenantId;
  /** Of the setting at its source. 0: nobody has set anything. */
  readonly version: number;
  readonly signaturesOnly: boolean;
  /** May one person approve what a quorum or a time lock holds? */
  readonly breakGlass: boolean;
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
    breakGlass: bool('break_glass'),
    passkeysSinceMs: nullable(instantMs('passkeys_since')),
    updatedAtMs: instantMs('updated_at'),
  }),
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};

/**
 * What a decision comes with. A claim is the word of whoever holds the operator key; a bearer proves a person; a signature is by a key
 * of the approver; an assertion is by a passkey.
 */
export type VoteProof = 'claim' | 'bearer' | 'signature' | 'passkey';

type Vote = { action: ApprovalDecision; proof: VoteProof };

/**
 * Throws PASSKEY_REQUIRED where this proof decides nothing of this tenant, whatever it decides: a denial and a withdrawal undo what
 * others signed. PERMISSION_DENIED for whoever breaks the glass where the tenant does not want that, or proves to be nobody.
 */
export function requireProof(batch: Pick<LedgerBatch, 'row'>, tenant: TenantId, { action, proof }: Vote): void {
  const terms = batch.row(approvalTerms, tenant);
  const missing = missingProof(terms, proof);
  if (missing !== null) throw new AppError('PASSKEY_REQUIRED', missing);
  if (action !== 'break_glass') return;
  if (terms?.breakGlass !== true) throw new AppError('PERMISSION_DENIED', 'Nobody breaks the glass in this tenant');
  if (proof === 'claim')
    throw new AppError(
      'PERMISSION_DENIED',
      'The operator key proves nobody: break the glass on the page of the approval',
    );
}

export function takesProof(terms: ApprovalTermsRow | null, proof: VoteProof): boolean {
  return missingProof(terms, proof) === null;
}

/** Why this proof decides nothing under these terms, in words for people; null: it does. */
function missingProof(terms: ApprovalTermsRow | null, proof: VoteProof): string | null {
  if (terms === null || proof === 'passkey') return null;
  if (terms.passkeysSinceMs !== null) return 'Passkeys are enrolled here, so nothing else decides';
  return terms.signaturesOnly && proof !== 'signature' ? 'Nothing but a signature decides here' : null;
}
