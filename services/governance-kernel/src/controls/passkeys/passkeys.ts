import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { CredentialId, PasskeyState } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, integer, nullable, selectByKey, text, texts, bool } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

/** Times are milliseconds since the epoch. Owner and key never change. */
export type PasskeyRow = {
  readonly ulid: string;
  readonly tenant: TenantId;
  readonly id: CredentialId;
  readonly principal: PrincipalId;
  /** COSE_Key in base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
  readonly createdAtMs: number;
  readonly createdBy: PrincipalId;
  /** `null` while the passkey waits for confirmation. */
  readonly activatedAtMs: number | null;
  readonly vouchedBy: PrincipalId | null;
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
};

export type PasskeyKey = { readonly tenant: TenantId; readonly id: CredentialId };

const nameOf = ({ tenant, id }: PasskeyKey) => `${tenant}\n${id}`;

/**
 * A vote under a passkey uses its state at the commit, including its counter. If two uses have the same count above 0,
 * one is refused.
 */
export const passkeys: Control<PasskeyKey, PasskeyRow> = {
  name: 'passkeys',
  guard: 'epoch',
  ...selectByKey('passkeys', ['tenant_id', 'credential_id']),
  ...columnsOf<PasskeyRow>({
    ulid: text('ulid'),
    tenant: text('tenant_id'),
    id: text('credential_id'),
    principal: text('principal_id'),
    publicKey: text('public_key'),
    counter: integer('counter'),
    transports: texts('transports'),
    isBackupEligible: bool('is_backup_eligible'),
    isBackedUp: bool('is_backed_up'),
    createdAtMs: instantMs('created_at'),
    createdBy: text('created_by'),
    activatedAtMs: nullable(instantMs('activated_at')),
    vouchedBy: nullable(text<PrincipalId>('vouched_by')),
    lastUsedAtMs: nullable(instantMs('last_used_at')),
    revokedAtMs: nullable(instantMs('revoked_at')),
  }),
  writes: {
    table: 'passkeys',
    primaryKey: ['tenant_id', 'credential_id'],
    put: {
      kind: 'upsert',
      updated: ['counter', 'is_backed_up', 'activated_at', 'vouched_by', 'last_used_at', 'revoked_at'],
    },
  },
  keyValues: ({ tenant, id }) => [tenant, id],
  keyText: nameOf,
  idOf: nameOf,
  setsOf: (row) => [nameOf(row)],
};

export function stateOf({ activatedAtMs, revokedAtMs }: PasskeyRow): PasskeyState {
  if (revokedAtMs !== null) return 'revoked';
  return activatedAtMs === null ? 'waiting' : 'active';
}
