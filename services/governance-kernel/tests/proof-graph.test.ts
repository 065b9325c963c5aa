import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Digest } from '@countersign/contracts';
import type { GraphReceipt, GraphSession } from '@countersign/contracts/governance-kernel';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { explainStatements, findGrowingReads, recordPlans } from '@countersign/database/testing';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { newSession, seal } from './_seal.ts';

const sessions = 1_000;
/** Receipts in each session. The first session has the rest of the 100,000. */
const each = 50;
const inFirst = 100_000 - (sessions - 1) * each;

let test: TestKernel;
const own = newSession();

beforeAll(async () => {
  test = await startTestKernel({ twins: false, unverified: 'its rows are written by hand' });
  await test.activate('*', starterPolicy);
  for (const tool of ['files.read', 'files.delete']) await seal(test, { session_id: own, tool });
  await seal(test, { tenant: 'globex', session_id: own });
  await fill();
  await explainStatements(test.database);
  await test.restart();
  await until(isTreeComplete);
});
afterAll(() => test.close());

/**
 * Whether the checkpointer, which works in the background, has read all new receipts. From then on, only requests send
 * statements.
 */
async function isTreeComplete(): Promise<boolean> {
  const statement = 'SELECT log_tree.size >= log_head.size AS complete FROM log_tree, log_head';
  const { rows } = await test.pool.query<{ complete: boolean }>(statement);
  return rows[0]?.complete === true;
}

/** Fills sessions of the tenant `big` with copies of a receipt that the kernel sealed. */
async function fill(): Promise<void> {
  const columns =
    'principal_id, kind, verdict, reason_code, action, tool, issued_at, payload, key_id, signature, record';
  // Inserting this many rows takes minutes on a slow machine.
  await test.pool.query(`
    SET statement_timeout = 0;
    INSERT INTO ledger (log_index, ulid, tenant_id, session_id, lamport_clock, receipt_hash, ${columns})
    SELECT last.log_index + row_number() OVER (ORDER BY lamport, session), lpad((1000 + row_number() OVER (ORDER BY lamport, session))::text, 26, '0'),
           'big', 'session-' || session, lamport, 'sha256:' || encode(sha256(convert_to(session || ' ' || lamport, 'UTF8')), 'hex'), ${columns}
      FROM generate_series(0, ${sessions - 1}) AS session
     CROSS JOIN LATERAL generate_series(1, CASE WHEN session = 0 THEN ${inFirst} ELSE ${each} END) AS lamport
     CROSS JOIN (SELECT ${columns} FROM ledger WHERE tenant_id = 'acme' AND kind = 'decision' LIMIT 1) AS sealed
     CROSS JOIN (SELECT max(log_index) AS log_index FROM ledger) AS last;
    UPDATE log_head SET size = (SELECT max(log_index) + 1 FROM ledger);
    RESET statement_timeout`);
  await test.pool.query(`
    INSERT INTO session_heads (tenant_id, session_id, lamport_clock, receipt_hash)
    SELECT tenant_id, session_id, max(lamport_clock), max(receipt_hash) FROM ledger WHERE tenant_id = 'big' GROUP BY 1, 2`);
  await test.pool.query('ANALYZE ledger');
}

type Page<Item> = { data: Item[]; next_cursor: string | null };

async function allOf<Item>(
  read: (page: { limit: number; cursor?: string }) => Promise<{ body: Page<Item> }>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { body }: { body: Page<Item> } = await read({ limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...body.data);
    cursor = body.next_cursor;
  }
  return items;
}

const sessionsOf = (tenant: string) =>
  allOf<GraphSession>((page) => test.as(tenant).listGraphSessions({ query: page }));
const receiptsOf = (tenant: string, session_id: string) =>
  allOf<GraphReceipt>((page) => test.as(tenant).listGraphReceipts({ params: { session_id: session_id }, query: page }));

describe('the proof graph', () => {
  verifies('kn.proofgraph', 'lists each session and each of its receipts once, at 100,000 receipts', async () => {
    const listed = await sessionsOf('big');
    expect(new Set(listed.map(({ session_id }) => session_id)).size).toBe(sessions);
    expect(listed.reduce((sum, { receipts }) => sum + receipts, 0)).toBe(100_000);
    const places = (await receiptsOf('big', 'session-0')).map(({ receipt }) => receipt.log_index);
    expect(new Set(places).size).toBe(inFirst);
    expect(places).toEqual(places.toSorted((left, right) => right - left));
    expect(await receiptsOf('big', 'session-999')).toHaveLength(each);
  });

  verifies('kn.proofgraph', 'finds a receipt by its hash, and reads no more than one page', async () => {
    const [newest] = (await receiptsOf('acme', own)).map(({ receipt }) => receipt);
    const recorder = recordPlans(test.pool);
    const plans = await recorder.during(async () => {
      await test.as('big').listGraphSessions({ query: { limit: 50 } });
      await test.as('big').listGraphReceipts({ params: { session_id: 'session-0' }, query: { limit: 50 } });
      await test.as('acme').getGraphReceipt({ params: { receipt_hash: newest?.receipt_hash as Digest } });
    });
    expect(await findGrowingReads(test.database, plans, { rows: 2_500, pages: 2_500 })).toEqual([]);
  });

  it('links receipts along a chain in both directions', async () => {
    const [newest, oldest] = await receiptsOf('acme', own);
    const params = { receipt_hash: oldest?.receipt.receipt_hash as Digest };
    const { body } = await test.as('acme').getGraphReceipt({ params });
    expect(body).toEqual({ ...oldest, next_hash: newest?.receipt.receipt_hash });
    expect(newest?.edges).toEqual([{ relation: 'follows', receipt_hash: params.receipt_hash }]);
    expect(oldest?.edges).toEqual([]);
  });

  verifies('kn.tenants', 'shows no receipt of another tenant', async () => {
    const [mine] = await receiptsOf('acme', own);
    const params = { receipt_hash: mine?.receipt.receipt_hash as Digest };
    const foreign = test.as('globex').getGraphReceipt({ params });
    await expect(foreign).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await receiptsOf('globex', own)).length).toBe(1);
    const absent = test.as('acme').listGraphReceipts({ params: { session_id: 'session-0' } });
    await expect(absent).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
