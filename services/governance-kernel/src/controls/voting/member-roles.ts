import type { PrincipalId, TenantId } from '@countersign/contracts';
import { columnsOf, integer, json, keys, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

/** The roles that may decide on approvals. Other members may not. */
export type DecidingRole = 'owner' | 'partner';

/** The owners and partners of a workspace, with the version of the list that contains them. */
export type MemberRolesRow = {
  readonly tenant: TenantId;
  readonly version: number;
  readonly roles: Readonly<Record<PrincipalId, DecidingRole>>;
};

/**
 * The last list of members from the gateway, read from the relations that store it. Tuples change together with the
 * head of their tenant, which moves the epoch. Version and roles are one row, so that no vote sees only one of them.
 */
export const memberRoles: Control<TenantId, MemberRolesRow> = {
  name: 'member_roles',
  guard: 'epoch',
  keyColumns: 1,
  select: (parameter) => `SELECT h.tenant_id, h.members_version, (
        SELECT coalesce(jsonb_object_agg(substr(t.subject, 6), t.relation ORDER BY t.relation), '{}') FROM relation_tuples t
         WHERE t.tenant_id = h.tenant_id AND t.object = 'workspace:' || h.tenant_id AND t.relation IN ('owner', 'partner')
           AND NOT t.is_userset AND t.subject LIKE 'user:%') AS roles
      FROM ${keys(parameter, 1)} AS wanted(tenant_id) JOIN relation_heads h USING (tenant_id) WHERE h.members_version > 0`,
  rowOf: columnsOf<MemberRolesRow>({
    tenant: text('tenant_id'),
    version: integer('members_version'),
    roles: json('roles'),
  }).rowOf,
  epochTables: ['relation_heads'], // tuples are only written together with their head
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};
