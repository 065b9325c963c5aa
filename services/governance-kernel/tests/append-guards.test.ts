import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BudgetId, Instant, SessionId, TenantId } from '@countersign/contracts';
import { announcementStatement } from '@countersign/receipts';
import { verifies } from '@countersign/testkit/verifies';
import { untilReachable } from '@countersign/testkit/until';
import { answers } from '../src/decision/answers.ts';
import { dispatches } from '../src/decision/dispatches.ts';
import { budgets } from '../src/controls/budgets/budgets.ts';
import { spend } from '../src/controls/budgets/reserve.ts';
import { controls } from '../src/controls.ts';
import { LedgerBatch, type Effects } from '../src/ledger/batch.ts';
import { LedgerClockGuard } from '../src/ledger/clock-guard.ts';
import { StaleFacts, type LedgerStore } from '../src/ledger/commit.ts';
import { put, drop, wanted, type Wanted } from '../src/ledger/control.ts';
import { KnownFacts, type Epoch } from '../src/ledger/known-facts.ts';
import type { SealedEntry } from '../src/ledger/statement.ts';
import { ledgerStore } from '../src/store/ledger-store.ts';
import { announced } from './_announced.ts';
import { newSession } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { ofNoTwin } from './_twins.ts';

let test: TestKernel;
let store: LedgerStore;
let session: SessionId;
beforeAll(async () => {
  test = await startTestKernel({ unverified: 'its rows are written by hand' });
  const { clockGuard, keyGuard } = test.kernel.context;
  store = ledgerStore({ pool: test.pool, controls, clockGuard, keyGuard });
});
beforeEach(() => {
  session = newSession();
});
afterAll(() => test.close());

const tenant = 'acme' as TenantId; // matches the schema
const id = 'guarded' as BudgetId;
const one = { tool_calls: 1, spend_micros: 0n, egress_bytes: 0, writes: 0 };
const now = () => new Date().toISOString() as Instant; // toISOString writes exactly this form
const run = (sql: string) => test.pool.query(sql);

/** Decides a batch of one entry on the current state of the database. The result is a function that appends it. */
async function decided(
  effects: (batch: LedgerBatch, entry: SealedEntry) => Effects = () => ({}),
  sets: Wanted[] = [],
  into = store,
  read: Partial<Epoch> = {},
): Promise<() => Promise<number>> {
  const { provider, signers, newUlid } = test.kernel.context;
  const existing = new KnownFacts(controls);
  existing.learn(await store.read({ chains: [{ tenant, session }], sets }));
  const batch = new LedgerBatch(existing, { provider, signer: signers.receipts });
  const statement = { ...announced, at: now(), ulid: newUlid(Date.now()), session };
  batch.seal(announcementStatement(provider, statement), (entry) => effects(batch, entry));
  const epoch = { ...epochOf(existing), ...read };
  return () => into.append({ epoch, batch });
}

function epochOf({ epoch }: KnownFacts): Epoch {
  if (epoch === null) throw new Error('Nothing was learned');
  return epoch;
}

const spent = (batch: LedgerBatch): Effects => {
  const budget = batch.row(budgets, { tenant, id });
  return { changes: budget === null ? [] : [put(budgets, spend(budget, one))] };
};

async function content(): Promise<unknown> {
  const tables = ['ledger', 'session_heads', 'log_head', 'budgets', 'dispatches', 'idempotency_keys'];
  const digests = tables.map(
    (table) => `(SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM ${table} t) AS ${table}`,
  );
  return (await run(`SELECT ${digests.join(', ')}`)).rows;
}

/** Expects that the append is refused because its facts are stale, and that it writes nothing. */
async function refused(append: () => Promise<number>): Promise<void> {
  const before = await content();
  await expect(append()).rejects.toThrow(StaleFacts);
  expect(await content()).toEqual(before);
}

describe('the append of a batch', () => {
  it('adds it at the end of the log when nothing has changed', async () => {
    const append = await decided();
    const { rows } = await test.pool.query<{ size: number }>('SELECT size::int FROM log_head');
    expect(await append()).toBe(rows[0]?.size);
  });

  verifies('kn.atomic', 'is refused when a fence was set and lifted in the meantime', async () => {
    const append = await decided();
    await run(
      `INSERT INTO fences (scope, kind, reason, effective_at, epoch, set_by) VALUES ('tenant:other', 'freeze', 'aba', now(), 1, 'test')`,
    );
    await run(`DELETE FROM fences WHERE scope = 'tenant:other'`);
    await refused(append);
  });

  verifies(
    'kn.atomic',
    'is refused as stale when it reaches the database late, although no clock is wrong',
    async () => {
      const clocksMs = [Date.now() - 25_000];
      const machineClock = () => new Date(clocksMs.shift() ?? Date.now());
      const readDatabaseMs = () => Promise.reject(new Error('The statement itself reads the clock'));
      const clockGuard = new LedgerClockGuard({ ...test.kernel.context, machineClock, readDatabaseMs });
      const { keyGuard } = test.kernel.context;
      await refused(await decided(undefined, [], ledgerStore({ pool: test.pool, controls, clockGuard, keyGuard })));
    },
  );

  verifies('kn.atomic', 'is refused when its facts are from another timeline of the server', async () => {
    await refused(await decided(undefined, [], store, { timeline: '7FFFFFFF' }));
  });

  const controlChanges = [
    `UPDATE policy_heads SET confirmed_at = now() WHERE ${ofNoTwin}`,
    `INSERT INTO mcp_servers VALUES ('new', 'new', 'stdio', '{}', 'approved', now(), now())`,
    `UPDATE mcp_tools SET pinned_hash = NULL`,
    `UPDATE budgets SET tool_call_limit = 1 WHERE ${ofNoTwin}`,
    `DELETE FROM budgets WHERE budget_id = 'absent'`,
  ];
  it.each(controlChanges)('is refused after the statement %s', async (change) => {
    const append = await decided();
    await run(change);
    await refused(append);
  });

  verifies('kn.chain', 'is refused when another batch extended or began the session', async () => {
    const first = await decided();
    const second = await decided();
    await first();
    await refused(second);
    const third = await decided();
    const fourth = await decided();
    await third();
    await refused(fourth);
  });

  it('holds no lock on a chain while it waits to begin another, so two kernels cannot deadlock', async () => {
    const { provider, signers, newUlid } = test.kernel.context;
    const { pool } = test;
    const [old, fresh] = [session, newSession()];
    await (
      await decided()
    )();
    const existing = new KnownFacts(controls);
    const chains = [old, fresh].map((name) => ({ tenant, session: name }));
    existing.learn(await store.read({ chains, sets: [] }));
    const batch = new LedgerBatch(existing, { provider, signer: signers.receipts });
    for (const chain of chains)
      batch.seal(announcementStatement(provider, { ...announced, ...chain, at: now(), ulid: newUlid(Date.now()) }));
    const second = await pool.connect();
    await second.query(`BEGIN; SET LOCAL lock_timeout = '2s'; SELECT lock_chains('{acme}', '{${fresh}}')`);
    const appending = store.append({ epoch: epochOf(existing), batch });
    await untilReachable(async () => {
      const { rowCount } = await pool.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rowCount !== 0;
    });
    await second.query(`SELECT lock_chains('{acme}', '{${old}}')`);
    await second.query('ROLLBACK');
    second.release();
    expect(await appending).toBeGreaterThan(0);
  });

  verifies('kn.budget', 'is refused when the budget was used, even if it has the same amounts again', async () => {
    await run(`INSERT INTO budgets (tenant_id, budget_id, subject, "window", tool_call_limit, updated_at)
               VALUES ('acme', 'guarded', 'tenant', 'total', 10, now())`);
    const sets = [wanted(budgets, { tenant, id })];
    const append = await decided(spent, sets);
    session = newSession();
    await (
      await decided(spent, sets)
    )();
    await run(`UPDATE budgets SET used_tool_calls = 0 WHERE budget_id = 'guarded' AND ${ofNoTwin}`);
    await refused(append);
  });

  verifies('kn.atomic', 'is refused when another batch has settled the same call', async () => {
    const dispatch = { ulid: 'D1', tenant, tools: [], reservations: [], deadlineAtMs: 0 };
    await (
      await decided(() => ({ changes: [put(dispatches, dispatch)] }))
    )();
    const settle = () => decided(() => ({ changes: [drop(dispatches, dispatch)] }));
    const append = await settle();
    session = newSession();
    await (
      await settle()
    )();
    await refused(append);
  });

  verifies('kn.atomic', 'is refused when the idempotency key was used less than a day ago', async () => {
    const answer = {
      tenant,
      principal: 'p',
      route: 'r',
      key: 'k',
      fingerprint: 'f',
      ulid: null,
      answer: '{}',
      place: null,
    };
    const keep = (createdAtMs: number) => decided(() => ({ changes: [put(answers, { ...answer, createdAtMs })] }));
    const append = await keep(1_000);
    session = newSession();
    await (
      await keep(0)
    )();
    await refused(append);
    session = newSession();
    await (
      await keep(86_400_000)
    )(); // the first use was a day ago
  });
});

describe('a batch', () => {
  it('keeps nothing of an entry whose effects throw', async () => {
    const { provider, signers, newUlid } = test.kernel.context;
    const existing = new KnownFacts(controls);
    existing.learn(await store.read({ chains: [{ tenant, session }], sets: [] }));
    const batch = new LedgerBatch(existing, { provider, signer: signers.receipts });
    const statement = announcementStatement(provider, { ...announced, ulid: newUlid(0), session });
    const broken = () => {
      throw new Error('broken');
    };
    expect(() => batch.seal(statement, broken)).toThrow('broken');
    expect([batch.isEmpty, batch.chains]).toEqual([true, []]);
    expect(batch.seal(statement).payload.lamport_clock).toBe(1);
  });

  it('refuses to read a set that no entry requested', async () => {
    const existing = new KnownFacts(controls);
    existing.learn(await store.read({ chains: [{ tenant, session }], sets: [] }));
    const { provider, signers } = test.kernel.context;
    const batch = new LedgerBatch(existing, { provider, signer: signers.receipts });
    expect(() => batch.row(budgets, { tenant, id })).toThrow('without requesting it');
  });
});
