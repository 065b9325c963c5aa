import type { AccessKeyId, Door, PrincipalId, TenantId } from '@countersign/contracts';
import type { AccessKey, IdentityKind } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, json, nullable, selectByKey, text, texts } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

/** Times are milliseconds since the epoch. Only `revokedAtMs` ever changes. */
export type AccessKeyRow = {
  readonly id: AccessKeyId;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly kind: AccessKey['kind'];
  readonly doors: readonly Door[];
  /** `null` permits every tool. */
  readonly tools: readonly string[] | null;
  readonly prefix: string;
  /** SHA-256 of the secret, in hex. */
  readonly secretHash: string;
  readonly expiresAtMs: number;
  readonly createdAtMs: number;
  readonly createdBy: PrincipalId;
  readonly revokedAtMs: number | null;
};

const columns = columnsOf<AccessKeyRow>({
  id: text('key_id'),
  tenant: text('tenant_id'),
  principal: text('principal_id'),
  kind: text('kind'),
  doors: texts('doors'),
  tools: nullable(json<readonly string[]>('tools')),
  prefix: text('prefix'),
  secretHash: text('secret_hash'),
  expiresAtMs: instantMs('expires_at'),
  createdAtMs: instantMs('created_at'),
  createdBy: text('created_by'),
  revokedAtMs: nullable(instantMs('revoked_at')),
});

/** The keys of agents and approvers. A decision under a key uses the state of the key at the commit. */
export const accessKeys: Control<AccessKeyId, AccessKeyRow> = {
  name: 'access_keys',
  guard: 'epoch',
  ...selectByKey('access_keys', ['key_id']),
  rowOf: columns.rowOf,
  stored: columns.stored,
  columns: columns.columns,
  writes: {
    table: 'access_keys',
    primaryKey: ['key_id'],
    put: { kind: 'upsert', updated: ['revoked_at'] },
    unread: ['last_used_at'],
  },
  keyValues: (id) => [id],
  keyText: (id) => id,
  idOf: ({ id }) => id,
  setsOf: ({ id }) => [id],
};

export function hasEnded({ revokedAtMs, expiresAtMs }: AccessKeyRow, nowMs: number): boolean {
  return revokedAtMs !== null || expiresAtMs <= nowMs;
}

/** The kind of the key's holder in the registry. */
export function identityKindOf({ kind }: Pick<AccessKeyRow, 'kind'>): IdentityKind {
  return kind === 'agent' ? 'agent' : 'operator';
}
