import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { AuthProfile } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, json, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

export type ProfileTerms = Pick<
  AuthProfile,
  'servers' | 'resource' | 'authorization_servers' | 'scopes_supported' | 'required_scopes' | 'tool_scopes'
>;

export type ProfileRow = {
  readonly tenant: TenantId;
  readonly id: string;
  readonly terms: ProfileTerms;
  readonly setBy: PrincipalId;
  readonly updatedAtMs: number;
};

/** All profiles of a tenant form one set, since each may cover the server of a call. */
export const authProfiles: Control<TenantId, ProfileRow> = {
  name: 'auth_profiles',
  guard: 'epoch',
  ...selectByKey('auth_profiles', ['tenant_id']),
  ...columnsOf<ProfileRow>({
    tenant: text('tenant_id'),
    id: text('profile_id'),
    terms: json('terms'),
    setBy: text('set_by'),
    updatedAtMs: instantMs('updated_at'),
  }),
  writes: { table: 'auth_profiles', primaryKey: ['tenant_id', 'profile_id'], put: { kind: 'upsert' } },
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant, id }) => `${tenant}\n${id}`,
  setsOf: ({ tenant }) => [tenant],
};
