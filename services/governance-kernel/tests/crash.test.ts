import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createClient, type SessionId } from '@countersign/contracts';
import type { EvaluateRequest, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { publicKeyToJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyChain, verifyRecord } from '@countersign/verifier';
import type pg from 'pg';
import { untilReachable } from '@countersign/testkit/until';
import { adminKey, kernelRoutes, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { startKernelProcess } from './_kernel-process.ts';

const rounds = 4;
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', `${starterPolicy}`);
  await insertBudget(test.pool);
});
afterAll(() => test.close());

/** A budget with a high limit. Its usage must equal the number of sealed ALLOWs. */
async function insertBudget(pool: pg.Pool): Promise<void> {
  await pool.query(
    `INSERT INTO budgets (tenant_id, budget_id, subject, "window", tool_call_limit, version, updated_at) VALUES ('acme', 'calls', 'tenant', 'total', 1000000, 1, now())`,
  );
}

const clientOf = (url: string) =>
  createClient(kernelRoutes, {
    baseUrl: url,
    headers: () => ({ authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme' }),
    timeoutMs: 10_000,
  });

type Answered = { key: string; body: EvaluateRequest; receiptId: string };

type Load = { answered: Answered[]; attempted: { key: string; body: EvaluateRequest }[] };

/** Sends calls from several workers until the kernel is gone, and records the answers. */
async function load(url: string, round: string, { answered, attempted }: Load): Promise<void> {
  const client = clientOf(url);
  const worker = async (number: number) => {
    for (let turn = 0; ; turn += 1) {
      const body = {
        action: 'tool.call',
        tool: turn % 5 === 0 ? 'files.delete' : 'files.read',
        effect_level: 'E1',
        session_id: `w${number}` as SessionId,
      } as EvaluateRequest;
      const key = `r${round}-w${number}-${turn}`;
      attempted.push({ key, body });
      const reply = await client.evaluate({ body, headers: { 'idempotency-key': key } }).catch(() => null);
      if (reply === null) return;
      answered.push({ key, body, receiptId: reply.body.receipt_id });
    }
  };
  await Promise.all(Array.from({ length: 12 }, (_, number) => worker(number)));
}

describeStory('kill -9 of two kernels under load', () => {
  verifies(
    'kn.atomic',
    'leaves each decision complete or absent, chains without gaps, and all answered decisions sealed',
    async () => {
      const [answered, attempted]: [Answered[], Load['attempted']] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        // Two kernels share the sessions. The second is killed while it continues them or waits for locks.
        const processes = await Promise.all([startKernelProcess(test.env), startKernelProcess(test.env)]);
        const loading = processes.map(({ url }, nth) => load(url, `${round}-${nth}`, { answered, attempted }));
        for (const process of processes) {
          const enough = answered.length + 20 + 7 * round;
          await untilReachable(async () => answered.length >= enough);
          await process.kill();
        }
        await Promise.all(loading);
      }
      await lastCommitOfTheDead();
      await assertWhole(answered);
      await assertRepeatable(attempted, answered);
    },
  );

  it('leaves chains that a new kernel continues', async () => {
    await test.restart();
    const { body } = await test.as('acme').evaluate({
      body: { action: 'tool.call', tool: 'files.read', effect_level: 'E1', session_id: 'w0' } as EvaluateRequest,
    });
    expect(body.lamport_clock).toBeGreaterThan(1);
  });
});

/** Waits until the last commits of the dead kernels have ended, by taking an exclusive lock on the controls. */
async function lastCommitOfTheDead(): Promise<void> {
  await test.pool.query('SELECT lock_controls(true)');
}

type Row = { log_index: string; ulid: string; payload: string; key_id: string; signature: string; record: string };

async function assertWhole(answered: Answered[]): Promise<void> {
  const { pool } = test;
  const { signers } = test.kernel.context;
  const { rows } = await pool.query<Row>(
    "SELECT * FROM ledger WHERE tenant_id = 'acme' ORDER BY session_id, lamport_clock",
  );
  const { rows: all } = await pool.query<{ log_index: string }>('SELECT log_index FROM ledger ORDER BY log_index');
  expect(all.map((row) => Number(row.log_index))).toEqual(all.map((_, index) => index));
  const receipts = rows.map((row) => ({
    payload: JSON.parse(row.payload) as ReceiptPayload,
    signature: { alg: 'Ed25519', key_id: row.key_id, value: row.signature },
  }));
  const keys = [
    {
      ...publicKeyToJwk(signers.receipts.publicKey),
      kid: signers.receipts.keyId,
      purpose: 'receipts',
      use: 'sig',
      alg: 'EdDSA',
      valid_from: '2020-01-01T00:00:00.000Z',
      valid_until: null,
      revoked_at: null,
    },
  ];
  expect(verifyChain(receipts, { trust: parseKeySet({ keys }), provider: nodeProvider })).toMatchObject({
    integrity: 'VERIFIED',
    receipts: rows.length,
  });
  rows.forEach((row, index) => verifyRecord(JSON.parse(row.record), receipts[index], nodeProvider));
  const ids = new Set(rows.map((row) => `rcp_${row.ulid}`));
  expect(answered.filter(({ receiptId }) => !ids.has(receiptId))).toEqual([]);
  const allowed = receipts.filter(({ payload }) => payload.verdict === 'ALLOW').length;
  const { rows: budgets } = await pool.query<{ used_tool_calls: string }>(
    `SELECT used_tool_calls FROM budgets WHERE tenant_id = 'acme'`,
  );
  expect(Number(budgets[0]?.used_tool_calls)).toBe(allowed);
  const { rows: stored } = await pool.query<{ count: string }>(
    "SELECT count(*) FROM idempotency_keys WHERE tenant_id = 'acme'",
  );
  expect(Number(stored[0]?.count)).toBe(rows.length);
}

/** Repeats requests with their idempotency keys: sealed answers come back, and nothing is sealed twice. */
async function assertRepeatable(
  attempted: { key: string; body: EvaluateRequest }[],
  answered: Answered[],
): Promise<void> {
  const existing = new Map(answered.map(({ key, receiptId }) => [key, receiptId]));
  const count = async () =>
    Number(
      (await test.pool.query<{ count: string }>("SELECT count(*) FROM ledger WHERE tenant_id = 'acme'")).rows[0]?.count,
    );
  const before = await count();
  const unanswered = attempted.filter(({ key }) => !existing.has(key));
  const sample = [...attempted.filter(({ key }) => existing.has(key)).slice(0, 50), ...unanswered];
  for (const { key, body } of sample) {
    const reply = await test.as('acme').evaluate({ body, headers: { 'idempotency-key': key } });
    expect(existing.get(key) ?? reply.body.receipt_id).toBe(reply.body.receipt_id);
  }
  await untilReachable(async () => (await count()) <= before + unanswered.length);
  expect(await count()).toBeLessThanOrEqual(before + unanswered.length);
}
