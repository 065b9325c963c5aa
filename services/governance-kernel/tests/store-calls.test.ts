import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BudgetId, PrincipalId, TenantId } from '@countersign/contracts';
import { countedMax, type FenceScope } from '@countersign/contracts/governance-kernel';
import { usageKeptMs } from '../src/controls/budgets/budget-usage.ts';
import { findBudget, forgetUsage, listCallsHolding } from '../src/store/budget-store.ts';
import { listOverdueDispatches } from '../src/store/dispatch-store.ts';
import { findFences, findFencesAround, listCallsInFlight } from '../src/store/fence-store.ts';
import { countFences, countOpenDispatches, findOldestUnsent, sizeOfLog } from '../src/store/gauge-store.ts';
import { listOpenDispatches } from '../src/store/open-calls.ts';
import { countOpen, listScopesAround } from '../src/store/standing-store.ts';
import { stopsIn } from '../src/store/stops-in.ts';
import { digest, entry, instant, minute, openTestStore, ulid, type TestStore } from './_store-rows.ts';

const tenant = 'acme' as TenantId;
const principal = 'p' as PrincipalId;
const scope = (text: string) => text as FenceScope;

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(() => store.empty());
afterAll(() => store.close());

const reservation = (id: string) => ({
  budget_id: id,
  demand: { tool_calls: 1, spend_micros: '10000', egress_bytes: 0, writes: 0 },
});

/** Inserts an open call with its decision. */
async function open(
  nth: number,
  { tools = ['files.read'], at = 'acme', by = 'p', holds = [] as string[] } = {},
): Promise<void> {
  const report = { tenant_id: at, principal_id: by, tool: tools[0] };
  await store.insert('ledger', entry(nth, { ...report, sealed: report }));
  await store.insert('dispatches', {
    ...{ ulid: ulid(nth), tenant_id: at, tools, deadline_at: instant(100 - nth) },
    reservations: holds.map(reservation),
  });
}

/** Inserts open calls of a tenant, but no decisions of them. The calls have the numbers `from` to `to`. */
const fill = (at: string, from: number, to: number) =>
  store.client.query(
    `INSERT INTO dispatches SELECT lpad(n::text, 26, '0'), $1::text, '[]', now() FROM generate_series($2::int, $3::int) n`,
    [at, from, to],
  );

const nthOf = ({ decision_id }: { decision_id: string }) => Number(decision_id.slice(4));

describe('open calls', () => {
  beforeEach(async () => {
    await open(1, { holds: ['a', 'b'] });
    await open(2, { at: 'umbrella', holds: ['b'] });
    await open(3, { by: 'q', holds: ['b'] });
    await open(4, { tools: ['files.write', 'files.read'] });
    await store.insert('dispatches', { ulid: ulid(9), deadline_at: instant(91), reservations: [reservation('b')] });
    await store.insert('tenant_orgs', { tenant_id: 'acme', org_id: 'o' }, { tenant_id: 'initech', org_id: 'q' });
  });

  it('are listed as overdue after their deadline, earliest first, except excluded calls and calls without a decision', async () => {
    const overdue = async (nth: number, { limit = 9, except = [] as string[] } = {}) =>
      (await listOverdueDispatches(store.database.reader, { now: minute(nth), limit, except })).map((of) => [
        nthOf(of.decided),
        of.reserved,
      ]);
    const all = [
      [4, []],
      [3, ['b']],
      [2, ['b']],
      [1, ['a', 'b']],
    ];
    expect(await overdue(100)).toEqual(all);
    expect(await overdue(99)).toEqual(all.slice(0, 3));
    expect(await overdue(100, { limit: 2, except: [ulid(9)] })).toEqual(all.slice(0, 2));
    expect(await overdue(100, { except: [ulid(3)] })).toEqual([all[0], all[2], all[3]]);
  });

  it('of a budget are the calls with a reservation in it, oldest first', async () => {
    const holding = (id: string, limit: number) =>
      listCallsHolding(store.database.reader, { tenant, id: id as BudgetId }, limit);
    const { calls, mayBeMore } = await holding('b', 9);
    expect([calls.map(nthOf), mayBeMore]).toEqual([[1, 3], false]);
    expect(calls[0]?.deadline_at).toBe(instant(99));
    expect(calls[0]?.issued_at).toBe(instant(1));
    expect(calls[0]?.holds).toMatchObject({ tool_calls: 1 });
    expect(await holding('b', 3)).toMatchObject({ mayBeMore: false });
    expect((await holding('b', 2)).mayBeMore).toBe(true);
    expect((await holding('b', 1)).calls.map(nthOf)).toEqual([1]);
    expect(await holding('c', 9)).toEqual({ calls: [], mayBeMore: false });
  });

  it('in a scope are the calls that a fence around it would stop, oldest first', async () => {
    const inFlight = async (around: string, limit = 9) => {
      const { calls, mayBeMore } = await listCallsInFlight(store.database.reader, scope(around), limit);
      return [calls.map(nthOf), mayBeMore];
    };
    expect(await inFlight('system')).toEqual([[1, 2, 3, 4], false]);
    expect(await inFlight('system', 4)).toEqual([[1, 2, 3, 4], false]);
    expect(await inFlight('system', 3)).toEqual([[1, 2, 3], true]);
    expect(await inFlight('tenant:acme')).toEqual([[1, 3, 4], false]);
    expect(await inFlight('agent:acme/q')).toEqual([[3], false]);
    expect(await inFlight('tool:acme/files.write')).toEqual([[4], false]);
    expect(await inFlight('tool:*/files.read')).toEqual([[1, 2, 3, 4], false]);
    expect(await inFlight('org:o')).toEqual([[1, 3, 4], false]);
    expect(await inFlight('org:q')).toEqual([[], false]);
  });

  it('are searched up to a limit, and the result reports that there may be more', async () => {
    await fill('full', 100, 1_098);
    const full = [tenant, 'full' as TenantId].slice(1);
    expect(await listOpenDispatches(store.database.reader, full)).toMatchObject({ areAll: true });
    await store.insert('dispatches', { ulid: ulid(2_000), tenant_id: 'full' });
    const { open: found, areAll } = await listOpenDispatches(store.database.reader, full);
    expect([found.length, found[0]?.ulid, areAll]).toEqual([1_000, ulid(100), false]);
    const inFull = await listCallsInFlight(store.database.reader, scope('tenant:full'), 9);
    expect(inFull).toEqual({ calls: [], mayBeMore: true });
    const key = { tenant: 'full' as TenantId, id: 'b' as BudgetId };
    expect(await listCallsHolding(store.database.reader, key, 9)).toEqual({ calls: [], mayBeMore: true });
  });

  it('of an organisation with too many tenants are reported as possibly incomplete', async () => {
    const fillOrg = (from: number, to: number) =>
      store.client.query(
        `INSERT INTO tenant_orgs SELECT 't-' || n, 'big', 1, now() FROM generate_series($1::int, $2::int) n`,
        [from, to],
      );
    const inBig = () => listCallsInFlight(store.database.reader, scope('org:big'), 9);
    await fillOrg(1, 9_999);
    expect(await inBig()).toEqual({ calls: [], mayBeMore: false });
    await fillOrg(10_000, 10_001);
    expect(await inBig()).toEqual({ calls: [], mayBeMore: true });
  });

  it('are counted up to a limit', async () => {
    const counted = () => countOpenDispatches(store.database.reader);
    expect(await counted()).toBe(5);
    await fill('full', 100, 1_099);
    expect(await counted()).toBe(1_005);
    await fill('over', 10_000, 20_000);
    expect(await counted()).toBe(10_000);
    const open = await countOpen(store.database.reader, 'full' as TenantId, minute(0));
    expect(open.open_dispatches).toBe(Math.min(1_000, countedMax));
  });
});

describe('fences', () => {
  const active = [
    'system',
    'tenant:acme',
    'agent:acme/p',
    'tool:acme/x',
    'tool:*/x',
    'server:acme/s',
    'server:s',
    'org:o',
  ];
  const elsewhere = ['tenant:acme2', 'agent:acme2/p', 'tool:acme2/x', 'server:umbrella/s', 'org:oo', 'tenant:acm'];

  beforeEach(() =>
    store.insert(
      'fences',
      ...[...active, ...elsewhere].map((name) => ({ scope: name, expires_at: null })),
      { scope: 'tool:acme/open', kind: 'open' },
      { scope: 'tool:acme/over', expires_at: instant(10) },
      { scope: 'tool:acme/soon', expires_at: instant(11) },
    ),
  );

  it('that concern a tenant are listed by scope, in order', async () => {
    await store.insert('tenant_orgs', { tenant_id: 'acme', org_id: 'o' });
    const around = (limit: number) => listScopesAround(store.database.reader, tenant, { now: minute(10), limit });
    const expected = [...active, 'tool:acme/soon'].sort();
    expect(await around(99)).toEqual(expected);
    expect(await around(3)).toEqual(expected.slice(0, 3));
  });

  it('are counted while they are in force', async () => {
    const all = active.length + elsewhere.length;
    expect(await countFences(store.database.reader, minute(10))).toBe(all + 1);
    expect(await countFences(store.database.reader, minute(11))).toBe(all);
  });

  it('around a call include those of its organisation', async () => {
    await store.insert('tenant_orgs', { tenant_id: 'acme', org_id: 'o' });
    const around = async (at: string) =>
      (await findFencesAround(store.database.reader, { tenant: at as TenantId, principal, tools: ['s.y'] }))
        .map((fence) => fence.scope as string)
        .sort();
    expect(await around('acme')).toEqual([
      'agent:acme/p',
      'org:o',
      'server:acme/s',
      'server:s',
      'system',
      'tenant:acme',
    ]);
    expect(await around('nobody')).toEqual(['server:s', 'system']);
    expect(await findFences(store.database.reader, [])).toEqual([]);
  });
});

describe('a tool', () => {
  it('is withdrawn when its server is revoked, or when the calling tenant blocks it', async () => {
    await store.insert('mcp_servers', { server_id: 'well' }, { server_id: 'gone', state: 'revoked' });
    await store.insert('tool_blocks', { tools: ['well.blocked'] });
    const { isWithdrawnTool } = stopsIn(store.database.reader, () => minute(0));
    const reportOf = (tools: string[], at = 'acme') => isWithdrawnTool({ tenant: at, tools } as never);
    expect(await reportOf([])).toBe(false);
    expect(await reportOf(['well.read'])).toBe(false);
    expect(await reportOf(['well.read', 'gone.read'])).toBe(true);
    expect(await reportOf(['well.read', 'well.blocked'])).toBe(true);
    expect(await reportOf(['well.blocked'], 'umbrella')).toBe(false);
    expect(await reportOf(['gone'])).toBe(false);
  });
});

describe('the open items of a tenant', () => {
  it('are counted only for this tenant, at the current time', async () => {
    await store.insert('budgets', { budget_id: 'b' }, { budget_id: 'c' }, { budget_id: 'b', tenant_id: 'umbrella' });
    const rows = [
      { approval_id: 'apr_1', expires_at: instant(11) },
      { approval_id: 'apr_2', expires_at: instant(10) },
      { approval_id: 'apr_3', expires_at: instant(11), state: 'denied' },
      { approval_id: 'apr_4', expires_at: instant(11), tenant_id: 'umbrella' },
    ];
    await store.insert('approvals', ...rows);
    await store.insert('mcp_servers', { server_id: 'held', state: 'quarantined' });
    await store.insert('mcp_servers', { server_id: 'umbrella/own', tenant_id: 'umbrella', state: 'quarantined' });
    for (const nth of [1, 2, 3, 4]) await open(nth);
    const counts = await countOpen(store.database.reader, tenant, minute(10));
    expect(counts).toEqual({
      ...{ budgets: 2, pending_approvals: 1, open_dispatches: 4, quarantined_mcp_servers: 1 },
      unapproved_tools: 0,
    });
    expect((await findBudget(store.database.reader, { tenant, id: 'b' as BudgetId }))?.row.id).toBe('b');
    expect(await findBudget(store.database.reader, { tenant, id: 'd' as BudgetId })).toBeNull();
  });

  it('include tools that are new, changed or quarantined, but no tool of another tenant', async () => {
    await store.insert(
      'mcp_servers',
      { server_id: 'well', name: 'well' },
      { server_id: 'held', name: 'held', state: 'quarantined' },
      { server_id: 'gone', name: 'gone', state: 'revoked' },
      { server_id: 'acme/own', name: 'own', tenant_id: tenant },
      { server_id: 'acme/well', name: 'well', tenant_id: tenant },
      { server_id: 'umbrella/own', name: 'own', tenant_id: 'umbrella' },
    );
    const drifted = { current_hash: digest(1), drifted_at: instant(0), observed_definition: { name: 'now' } };
    const servers = ['well', 'held', 'gone', 'acme/own', 'acme/well', 'umbrella/own'];
    const changed = servers.map((server_id) => ({ server_id, tool_name: 'changed', ...drifted }));
    const added = servers.map((server_id) => ({ server_id, tool_name: 'new', pinned_hash: null }));
    await store.insert(
      'mcp_tools',
      ...servers.map((server_id) => ({ server_id, tool_name: 'same' })),
      ...servers.map((server_id) => ({ server_id, tool_name: 'gone', pinned_hash: null, gone_at: instant(0) })),
      ...[...changed, ...added],
    );
    const count = async (at: TenantId) => (await countOpen(store.database.reader, at, minute(0))).unapproved_tools;
    // All three tools of `held` count, and of any other server the new and the changed tool. The tenant's server `well`
    // counts in the place of the declared one of this name.
    expect(await count(tenant)).toBe(7);
    expect(await count('umbrella' as TenantId)).toBe(7);
    expect(await count('nobody' as TenantId)).toBe(5);
  });

  it('lose each usage event that is older than its retention time', async () => {
    const now = minute(0);
    const at = (ms: number) => new Date(now.getTime() - usageKeptMs + ms).toISOString();
    await store.insert(
      'budget_usage',
      { event_id: 'old', recorded_at: at(-1) },
      { event_id: 'last', recorded_at: at(0) },
    );
    await store.database.transaction((tx) => forgetUsage(tx, now));
    const { rows } = await store.client.query('SELECT event_id FROM budget_usage');
    expect(rows).toEqual([{ event_id: 'last' }]);
  });
});

describe('the metrics of the store', () => {
  it('are the size of the log and the oldest unpublished event', async () => {
    const { reader } = store.database;
    await store.client.query('UPDATE log_head SET size = 7');
    expect(await sizeOfLog(reader)).toBe(7);
    await store.client.query('DELETE FROM log_head');
    expect(await sizeOfLog(reader)).toBe(0);
    expect(await findOldestUnsent(reader)).toBeNull();
    await store.insert(
      'outbox',
      {
        id: 'sent',
        position: 101,
        sent_at: instant(0),
        created_at: instant(1),
        needs_consumer: false,
        attempts: 0,
        available_at: instant(0),
      },
      {
        id: 'late',
        position: 103,
        created_at: instant(2),
        needs_consumer: false,
        attempts: 0,
        available_at: instant(0),
      },
      {
        id: 'first',
        position: 102,
        created_at: instant(3),
        needs_consumer: false,
        attempts: 0,
        available_at: instant(0),
      },
    );
    expect(await findOldestUnsent(reader)).toEqual(minute(3));
  });
});
