import type { TenantId } from '@countersign/contracts';
import { columnsOf, instantMs, integer, nullable, selectByKey, text, bool } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';

/** The terms of a tenant's votes. Times are milliseconds since the epoch. */
export type ApprovalTermsRow = {
  readonly tenant: TenantId;
  /** The version of the setting at its source. 0: it was never set. */
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
  writes: {
    table: 'approval_terms',
    primaryKey: ['tenant_id'],
    put: { kind: 'upsert', merged: { passkeys_since: 'coalesce(t.passkeys_since, excluded.passkeys_since)' } },
  },
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};

/**
 * The proof of a vote. A claim is a statement of the operator key's holder; a bearer proves a person; a signature is by
 * a key of the approver; an assertion is by a passkey.
 */
export type VoteProof = 'claim' | 'bearer' | 'signature' | 'passkey';

export function takesProof(terms: ApprovalTermsRow | null, proof: VoteProof): boolean {
  return missingProof(terms, proof) === null;
}

/** Why this proof decides nothing under these terms, in words for people; null: it does. */
export function missingProof(terms: ApprovalTermsRow | null, proof: VoteProof): string | null {
  if (terms === null || proof === 'passkey') return null;
  if (terms.passkeysSinceMs !== null) return 'Passkeys are enrolled here, so nothing else decides';
  return terms.signaturesOnly && proof !== 'signature' ? 'Nothing but a signature decides here' : null;
}
