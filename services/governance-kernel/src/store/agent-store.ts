import { UserId, type PrincipalId, type TenantId } from '@countersign/contracts';
import { shownAgentsMax, type AgentProfile, type CallCounts } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { accessKeys } from '../controls/access-keys/access-keys.ts';
import type { AgentRows } from '../doors/status/agent-view.ts';
import { fences } from '../controls/fences/fences.ts';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import { identities } from '../controls/identities/identities.ts';
import { firstApprovalIdAt } from './approval-store.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';
import { WholeNumber } from './whole-number.ts';

const halfHourMs = 1_800_000;
const dayMs = 24 * 3_600_000;
/** At most this many identities and this many keys are read, in addition to all agents with calls. */
const namesMax = 1_000;

type AgentList = { agents: AgentRows[]; hasMore: boolean };

/** Agents of the tenant, the busiest of the last seven days first. */
export async function listAgentRows(reader: Reader, tenant: TenantId, now: Date): Promise<AgentList> {
  const counted = await countCalls(reader, { tenant }, now);
  const ofTenant = { tenant_id: tenant, kind: 'agent' };
  const select = { principal_id: true };
  const [enrolled, keyed] = await Promise.all([
    reader.identity.findMany({ where: ofTenant, select, orderBy: { principal_id: 'asc' }, take: namesMax }),
    reader.accessKey.findMany({ where: ofTenant, select, orderBy: { key_id: 'desc' }, take: namesMax }),
  ]);
  const existing = new Set([...counted.keys(), ...[...enrolled, ...keyed].map(({ principal_id }) => principal_id)]);
  const agents = [...existing].filter((name) => !UserId.safeParse(name).success);
  const calls = (name: string) => total(counted.get(name)?.week ?? none);
  agents.sort((a, b) => calls(b) - calls(a) || (a < b ? -1 : 1));
  const hasMore = agents.length > shownAgentsMax || [enrolled, keyed].some(({ length }) => length === namesMax);
  return { agents: await rowsOf(reader, tenant, agents.slice(0, shownAgentsMax), counted), hasMore };
}

/** `null` when the tenant has no such agent. */
export async function findAgentRows(
  reader: Reader,
  { tenant, principal }: { tenant: TenantId; principal: PrincipalId },
  now: Date,
): Promise<AgentRows | null> {
  const counted = await countCalls(reader, { tenant, principal }, now);
  const [rows] = await rowsOf(reader, tenant, [principal], counted);
  if (rows === undefined) return null;
  const isKnown = rows.identity !== null || rows.keys.length > 0 || rows.lastCallAt !== null || rows.fence !== null;
  return isKnown ? rows : null;
}

type Counts = ReadonlyMap<string, { day: CallCounts; week: CallCounts }>;
const none: CallCounts = { allowed: 0, denied: 0, needed_approval: 0 };
const total = ({ allowed, denied, needed_approval }: CallCounts) => allowed + denied + needed_approval;

type CountedCalls = { tenant: TenantId; principal?: PrincipalId };

/** Sums the half-hour counts of the last day and the daily counts of the last week. Older rows are not read. */
async function countCalls(reader: Reader, counted: CountedCalls, now: Date): Promise<Counts> {
  const day = new Date(Math.floor((now.getTime() - dayMs) / halfHourMs) * halfHourMs);
  const week = new Date(Math.floor(now.getTime() / dayMs) * dayMs - 6 * dayMs);
  const rows = await reader.$queryRaw`${countedSince(30, day, counted)} UNION ALL ${countedSince(1440, week, counted)}`;
  const counts = new Map<string, { day: CallCounts; week: CallCounts }>();
  for (const { principal, minutes, verdict, calls } of CountRows.parse(rows)) {
    const of = counts.get(principal) ?? { day: { ...none }, week: { ...none } };
    const member = memberOf[verdict];
    if (member !== undefined) of[minutes === 30 ? 'day' : 'week'][member] += calls;
    counts.set(principal, of);
  }
  return counts;
}

function countedSince(minutes: 30 | 1440, since: Date, { tenant, principal }: CountedCalls): Sql.Sql {
  return Sql.sql`
    SELECT principal_id AS principal, minutes, verdict, sum(calls)::bigint AS calls FROM decision_counts
     WHERE tenant_id = ${tenant} AND minutes = ${minutes} AND at >= ${since}
           ${principal === undefined ? Sql.empty : Sql.sql`AND principal_id = ${principal}`}
     GROUP BY 1, 2, 3`;
}

const CountRows = z.array(
  z.object({ principal: z.string(), minutes: z.int(), verdict: z.string(), calls: WholeNumber }),
);
const memberOf: Readonly<Record<string, keyof CallCounts>> = {
  ALLOW: 'allowed',
  DENY: 'denied',
  ESCALATE: 'needed_approval',
};

async function rowsOf(reader: Reader, tenant: TenantId, names: string[], counted: Counts): Promise<AgentRows[]> {
  const where = { tenant_id: tenant, principal_id: { in: names } };
  const scopes = names.map((name) => `agent:${tenant}/${name}`);
  const [enrolled, keys, stops, waiting, lastCalls] = await Promise.all([
    reader.identity.findMany({ where: { ...where, kind: 'agent' } }),
    reader.accessKey.findMany({ where: { ...where, kind: 'agent' } }),
    reader.fence.findMany({ where: { scope: { in: scopes } } }),
    reader.approval.groupBy({
      by: ['requested_by'],
      where: { tenant_id: tenant, state: 'pending', requested_by: { in: names } },
      _count: true,
    }),
    listLastCalls(reader, tenant, names),
  ]);
  const identityRows = enrolled.map((row) => identities.rowOf(asStored(row)));
  const keyRows = keys.map((row) => accessKeys.rowOf(asStored(row)));
  const fenceRows = stops.map((row) => fences.rowOf(asStored(row)));
  return names.map((name) => ({
    principal: name as PrincipalId, // written by the kernel, or stated by a caller under its schema
    identity: identityRows.find(({ principal }) => principal === name) ?? null,
    fence: fenceRows.find(({ scope }) => scope === `agent:${tenant}/${name}`) ?? null,
    keys: keyRows.filter(({ principal }) => principal === name),
    lastCallAt: lastCalls.get(name) ?? null,
    day: counted.get(name)?.day ?? none,
    week: counted.get(name)?.week ?? none,
    pendingApprovals: waiting.find(({ requested_by: by }) => by === name)?._count ?? 0,
  }));
}

const LastCalls = z.array(z.object({ principal: z.string(), at: z.date() }));

/** The times of the last calls, by agent. NULLS LAST is the order of the index. */
async function listLastCalls(reader: Reader, tenant: TenantId, names: string[]): Promise<ReadonlyMap<string, Date>> {
  const rows = await reader.$queryRaw`
    SELECT names.principal, newest.issued_at AS at FROM unnest(${names}::text[]) AS names(principal), LATERAL (
      SELECT issued_at FROM ledger WHERE tenant_id = ${tenant} AND principal_id = names.principal AND kind = 'decision'
       ORDER BY log_index DESC NULLS LAST LIMIT 1) AS newest`;
  return new Map(LastCalls.parse(rows).map(({ principal, at }) => [principal, at]));
}

/**
 * Outcomes of the approvals that an agent requested in the last seven days. They are selected by id, since the id of an
 * approval begins with the time of its request.
 */
export async function countApprovals(
  reader: Reader,
  { tenant, principal }: { tenant: TenantId; principal: PrincipalId },
  now: Date,
): Promise<AgentProfile['approvals']> {
  const since = firstApprovalIdAt(now.getTime() - 7 * dayMs);
  const states = await reader.approval.groupBy({
    by: ['state'],
    where: { tenant_id: tenant, approval_id: { gte: since }, requested_by: principal },
    _count: true,
  });
  const sum = (...names: string[]) =>
    states.reduce((count, { state, _count: of }) => (names.includes(state) ? count + of : count), 0);
  return {
    requested: states.reduce((count, { _count: of }) => count + of, 0),
    approved: sum('approved', 'consumed'),
    denied: sum('denied'),
    expired: sum('expired'),
  };
}

const Head = z.tuple([z.object({ is_complete: z.boolean(), newest_at: z.date().nullable() })]);

/** The time of the newest counted entry. `null` when the counters include the whole log. */
export async function countedTo(reader: Reader): Promise<Date | null> {
  const [{ is_complete: isComplete, newest_at: newestAt }] = Head.parse(
    await reader.$queryRaw`
      SELECT counted.size = log_head.size AS is_complete, counted.newest_at
        FROM decision_count_head AS counted, log_head WHERE counted.id = 1`,
  );
  return isComplete ? null : (newestAt ?? new Date(0));
}
