import { setTimeout as pause } from 'node:timers/promises';
import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { Caller } from '../call/governed-call.ts';
import type { DecidingRole, MemberRolesRow } from '../controls/voting/member-roles.ts';
import type { Reader } from './database.ts';

const subjectPrefix = 'user:';

/** The owners and partners of a workspace, to show who may vote. `null` when no list of its members has arrived. */
export async function findMemberRoles(reader: Reader, tenant: TenantId): Promise<MemberRolesRow | null> {
  const version = await findMembersVersion(reader, tenant);
  if (version === 0) return null;
  const decidingRoles = { in: ['owner', 'partner'] satisfies DecidingRole[] };
  const rows = await reader.relationTuple.findMany({
    where: { tenant_id: tenant, object: `workspace:${tenant}`, relation: decidingRoles, is_userset: false },
    orderBy: { relation: 'asc' },
  });
  const roles = rows
    .filter(({ subject }) => subject.startsWith(subjectPrefix))
    .map(({ subject, relation }) => [subject.slice(subjectPrefix.length), relation]);
  return { tenant, version, roles: Object.fromEntries(roles) as Record<PrincipalId, DecidingRole> }; // as selected
}

/**
 * The longest wait for a list of members. The list arrives as a message, so the first vote of a new partner may arrive
 * before it.
 */
const waitsMsMax = 1_000;
const looksEveryMs = 25;

/**
 * Waits briefly for the list of members that the gateway's assertion refers to. The vote reads it again under its
 * lock.
 */
export async function awaitMembers(reader: Reader, { tenant, assertion }: Caller): Promise<void> {
  const version = assertion?.membersVersion ?? 0;
  if (version === 0) return;
  for (let waitedMs = 0; waitedMs < waitsMsMax; waitedMs += looksEveryMs) {
    if ((await findMembersVersion(reader, tenant)) >= version) return;
    await pause(looksEveryMs);
  }
}

/** The version of the list of members that has arrived. 0 when none has. */
export async function findMembersVersion(reader: Reader, tenant: TenantId): Promise<number> {
  const row = await reader.relationHead.findUnique({ where: { tenant_id: tenant }, select: { members_version: true } });
  return row?.members_version ?? 0;
}
