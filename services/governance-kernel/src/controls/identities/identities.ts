import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { Identity } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, integer, nullable, selectByKey, text } from '../../ledger/columns.ts';
import { wanted, type Control, type Wanted } from '../../ledger/control.ts';

export type IdentityKey = {
  readonly tenant: TenantId;
  readonly kind: Identity['kind'];
  readonly principal: PrincipalId;
};

/** Times are milliseconds since the epoch. */
export type IdentityRow = IdentityKey & {
  /** The ulid of the enrolment. */
  readonly ulid: string;
  readonly displayName: string;
  readonly liveKeys: number;
  /** Rises with each change of the keys of this identity. */
  readonly revision: number;
  readonly enrolledAtMs: number;
  readonly enrolledBy: PrincipalId;
  readonly revokedAtMs: number | null;
  readonly revokedBy: PrincipalId | null;
};

const columns = columnsOf<IdentityRow>({
  tenant: text('tenant_id'),
  kind: text('kind'),
  principal: text('principal_id'),
  ulid: text('ulid'),
  displayName: text('display_name'),
  liveKeys: integer('live_keys'),
  revision: integer('revision'),
  enrolledAtMs: instantMs('enrolled_at'),
  enrolledBy: text('enrolled_by'),
  revokedAtMs: nullable(instantMs('revoked_at')),
  revokedBy: nullable(text('revoked_by')),
});

/** Names of tenants and principals contain no line feed. */
const idOf = ({ tenant, kind, principal }: IdentityKey) => `${tenant}\n${kind}\n${principal}`;

/** The registry of principals. A decision uses the state of the caller at the commit. */
export const identities: Control<IdentityKey, IdentityRow> = {
  name: 'identities',
  guard: 'epoch',
  ...selectByKey('identities', ['tenant_id', 'kind', 'principal_id']),
  rowOf: columns.rowOf,
  stored: columns.stored,
  columns: columns.columns,
  writes: {
    table: 'identities',
    primaryKey: ['tenant_id', 'kind', 'principal_id'],
    put: { kind: 'upsert', updated: ['display_name', 'live_keys', 'revision', 'revoked_at', 'revoked_by'] },
  },
  keyValues: ({ tenant, kind, principal }) => [tenant, kind, principal],
  keyText: idOf,
  idOf,
  setsOf: (row) => [idOf(row)],
};

export function wantedIdentity({ tenant, principal }: Omit<IdentityKey, 'kind'>, kind: IdentityKey['kind']): Wanted {
  return wanted(identities, { tenant, kind, principal });
}

/** A newly enrolled identity. */
export function newIdentity(
  key: IdentityKey,
  { ulid, by, nowMs, displayName }: { ulid: string; by: PrincipalId; nowMs: number; displayName: string },
): IdentityRow {
  const enrolment = { ulid, displayName, liveKeys: 0, revision: 1, enrolledAtMs: nowMs, enrolledBy: by };
  return { ...key, ...enrolment, revokedAtMs: null, revokedBy: null };
}

/** The kind of the principals under the routes of `agents` or `operators`. */
export function kindIn(directory: 'agents' | 'operators'): IdentityKey['kind'] {
  return directory === 'agents' ? 'agent' : 'operator';
}
