import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { KeyThumbprint } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, nullable, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

type KeyOfTenant = { readonly tenant: TenantId; readonly kid: KeyThumbprint };

/** Times are milliseconds since the epoch. Only the revocation ever changes. */
export type IdentityKeyRow = KeyOfTenant & {
  readonly principal: PrincipalId;
  /** 32 bytes in base64url. */
  readonly publicKey: string;
  readonly createdAtMs: number;
  readonly createdBy: PrincipalId;
  readonly revokedAtMs: number | null;
  readonly revokedBy: PrincipalId | null;
};

const columns = columnsOf<IdentityKeyRow>({
  tenant: text('tenant_id'),
  kid: text('kid'),
  principal: text('principal_id'),
  publicKey: text('public_key'),
  createdAtMs: instantMs('created_at'),
  createdBy: text('created_by'),
  revokedAtMs: nullable(instantMs('revoked_at')),
  revokedBy: nullable(text('revoked_by')),
});

const idOf = ({ tenant, kid }: KeyOfTenant) => `${tenant}\n${kid}`;

/** The signing keys of agents. A decision under a token uses the state of its key at the commit. */
export const identityKeys: Control<KeyOfTenant, IdentityKeyRow> = {
  name: 'identity_keys',
  guard: 'epoch',
  ...selectByKey('identity_keys', ['tenant_id', 'kid']),
  rowOf: columns.rowOf,
  stored: columns.stored,
  columns: columns.columns,
  writes: {
    table: 'identity_keys',
    primaryKey: ['tenant_id', 'kid'],
    put: { kind: 'upsert', updated: ['revoked_at', 'revoked_by'] },
  },
  keyValues: ({ tenant, kid }) => [tenant, kid],
  keyText: idOf,
  idOf,
  setsOf: (row) => [idOf(row)],
};
