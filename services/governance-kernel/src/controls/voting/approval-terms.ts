import type { TenantId } from '@countersign/contracts';
import { columnsOf, instantMs, integer, nullable, selectByKey, text, bool } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

/** The vote requirements of a tenant. Times are milliseconds since the epoch. */
export type ApprovalTermsRow = {
  readonly tenant: TenantId;
  /** The version that the caller assigned to the setting. 0 when it was never set. */
  readonly version: number;
  readonly signaturesOnly: boolean;
  /** Whether one person may approve a call that waits for a quorum or a time lock. */
  readonly breakGlass: boolean;
  /**
   * The time of the first passkey of an owner or approver of the installation. Since then, only passkeys decide. `null`
   * before it.
   */
  readonly passkeysSinceMs: number | null;
  readonly updatedAtMs: number;
};

/** A vote uses the state at its commit, so no vote can bypass the enrolment of the first passkey. */
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
 * The proof of a vote. `claim`: the operator key states a name. `bearer`: a token or an assertion of the gateway proves
 * a person. `signature`: by an approver's own key. `passkey`: by an approver's passkey.
 */
export type VoteProof = 'claim' | 'bearer' | 'signature' | 'passkey';

export function takesProof(terms: ApprovalTermsRow | null, proof: VoteProof): boolean {
  return missingProof(terms, proof) === null;
}

/** The reason why this proof cannot decide under these terms, as text for people. `null` when it can. */
export function missingProof(terms: ApprovalTermsRow | null, proof: VoteProof): string | null {
  if (terms === null || proof === 'passkey') return null;
  if (terms.passkeysSinceMs !== null) return 'Passkeys are enrolled here, so only a passkey can decide';
  return terms.signaturesOnly && proof !== 'signature' ? 'Only a signature or a passkey can decide here' : null;
}
