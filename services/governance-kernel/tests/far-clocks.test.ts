import { Writable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { isAppError, type Instant, type SessionId, type TenantId } from '@countersign/contracts';
import type { EvaluateRequest } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { announcementStatement } from '@countersign/receipts';
import { createLogger } from '@countersign/service-kit';
import { reaching } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import type { LedgerBatch } from '../src/ledger/batch.ts';
import { asAdministrator } from './_administrator.ts';
import { announced } from './_announced.ts';
import { newSession } from './_caller.ts';
import {
  clientOf,
  starterPolicy,
  startTestKernel,
  systemOf,
  type KernelClient,
  type TestKernel,
  type TestKernelOptions,
} from './_kernel.ts';

/** A kernel with a correct clock. `otherKernel` uses the same database, and its clock is off by `skewMs`. */
let test: TestKernel;
let otherKernel: StartedKernel;
let skewMs = 0;
const lines: string[] = [];

async function startBoth(options: Pick<TestKernelOptions, 'unverified'> = {}): Promise<void> {
  // The kernels must write nothing by themselves. The first checkpoint, due with the first receipt, is made here.
  test = await startTestKernel({ env: { GOV_CHECKPOINT_INTERVAL: '1h' }, ...options });
  await test.activate('*', starterPolicy);
  await test.kernel.context.checkpoints.create();
  const stream = new Writable({
    write: (line: Buffer, _encoding, done) => {
      lines.push(line.toString());
      done();
    },
  });
  otherKernel = await startKernel(kernelConfigFrom(test.env), {
    machineClock: () => new Date(Date.now() + skewMs),
    log: createLogger({ service: 'test', layout: 'json', stream }),
  });
}

async function stopBoth(): Promise<void> {
  await otherKernel.stop();
  await test.close();
}

beforeEach(() => {
  lines.length = 0;
});
afterEach(() => {
  skewMs = 0;
});

const right = () => test.as('acme', 'agent');
const wrong = () => clientOf(otherKernel, 'acme', 'agent');
const farMs = [600_000, 30_000, -600_000, -30_000];

async function decide(client: KernelClient, session_id: SessionId, tool = 'files.read') {
  const body = { action: 'tool.call', tool, effect_level: 'E1', session_id } as EvaluateRequest; // the kernel fills in the defaults
  return (await client.evaluate({ body })).body;
}

async function verdictOf(client: KernelClient, session_id: SessionId) {
  const { body } = await client.exportReceipts({ query: { session_id } });
  const trust = parseKeySet((await client.listTrustKeys()).body);
  const report = verifyExport(
    body.map((line) => JSON.stringify(line)),
    { trust, provider: nodeProvider },
  );
  return { verdict: report.verdict, fault: report.fault?.code ?? null };
}

/** Reads readiness until it is as expected, because its queries may time out on a slow machine. */
const expectReadiness = (expected: Awaited<ReturnType<typeof readiness>>) =>
  reaching(readiness, (seen) => isDeepStrictEqual(seen, expected));

async function readiness() {
  const response = await fetch(`${otherKernel.healthUrl}/health/ready`);
  const { checks } = (await response.json()) as { checks: Record<string, string> }; // a response of the kernel
  return { status: response.status, clock: checks['clock'], database: checks['database'] };
}

/** The number of rows in tables that a refused call must not change. */
async function written() {
  const count = (table: string) => `(SELECT count(*)::int FROM ${table}) AS ${table}`;
  const tables = ['ledger', 'outbox', 'approvals', 'session_heads', 'checkpoints'];
  return (await test.pool.query(`SELECT ${tables.map(count).join(', ')}`)).rows[0] as Record<string, number>;
}

/** Expects a refusal that reports how far the clock is off, and no new rows. */
async function expectRefused(work: () => Promise<unknown>, ms: number): Promise<void> {
  const before = await written();
  const error = await work().catch((thrown: unknown) => thrown);
  if (!isAppError(error)) throw new Error('it was not refused', { cause: error });
  expect([error.code, error.status]).toEqual(['RECEIPT_STORE_UNAVAILABLE', 503]);
  const [, seconds, side] =
    /^The clock of this kernel is (\d+) s (ahead of|behind) the database's/.exec(error.message) ?? [];
  expect(side).toBe(ms > 0 ? 'ahead of' : 'behind');
  // The reported difference may be smaller than `ms`, because the query of the database clock takes time.
  expect(Number(seconds) * 1_000).toBeGreaterThan(Math.abs(ms) - 10_000);
  expect(Number(seconds) * 1_000).toBeLessThanOrEqual(Math.abs(ms));
  expect(await written()).toEqual(before);
}

const reportOf = () =>
  lines.map((line) => (JSON.parse(line) as { event: string }).event).filter((event) => /^clock/.test(event));

describe('a kernel whose clock is far from the database clock', () => {
  beforeAll(() => startBoth());
  afterEach(async () => {
    skewMs = 0;
    // The kernel logs here that its clock is near again, so that the next test does not see the message.
    await decide(wrong(), newSession());
  });
  afterAll(stopBoth);

  verifies('kn.chain', 'does not prevent the exports of other kernels from verifying', async () => {
    const [request, exported] = [newSession(), newSession()];
    for (const session of [request, exported]) await decide(right(), session);
    skewMs = 600_000;
    await Promise.allSettled([decide(wrong(), request), verdictOf(wrong(), exported)]);
    await decide(right(), request);
    for (const session of [request, exported])
      expect(await verdictOf(right(), session)).toEqual({ verdict: 'VERIFIED', fault: null });
  });

  it.each(farMs)('exports nothing (clock off by %d ms)', async (ms) => {
    const session = newSession();
    await decide(right(), session);
    skewMs = ms;
    await expectRefused(() => verdictOf(wrong(), session), ms);
  });

  it.each(farMs)('seals no decision (clock off by %d ms)', async (ms) => {
    const session = newSession();
    skewMs = ms;
    await expectRefused(() => decide(wrong(), session), ms);
    // A requested approval publishes an event, so this call is decided under locks.
    await expectRefused(() => decide(wrong(), session, 'pay.send'), ms);
    skewMs = 0;
    expect((await decide(wrong(), session)).verdict).toBe('ALLOW');
  });

  it.each(farMs)('signs no checkpoint (clock off by %d ms)', async (ms) => {
    await decide(right(), newSession());
    skewMs = ms;
    await expectRefused(() => otherKernel.context.checkpoints.create(), ms);
    skewMs = 0;
    expect((await otherKernel.context.checkpoints.create()).tree_size).toBeGreaterThan(0);
  });

  it('is not ready, and reports the clock as down', async () => {
    await expectReadiness({ status: 200, clock: 'up', database: 'up' });
    for (const ms of farMs) {
      skewMs = ms;
      await expectReadiness({ status: 503, clock: 'down', database: 'up' });
    }
    skewMs = 0;
    await expectReadiness({ status: 200, clock: 'up', database: 'up' });
  });

  it('logs the problem once for many calls, and its end once', async () => {
    skewMs = 600_000;
    const calls = Array.from({ length: 20 }, () => decide(wrong(), newSession()));
    expect(new Set((await Promise.allSettled(calls)).map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(reportOf()).toEqual(['clock.far_off']);
    skewMs = 0;
    for (let nth = 0; nth < 3; nth += 1) await decide(wrong(), newSession());
    expect(reportOf()).toEqual(['clock.far_off', 'clock.near_again']);
  });

  verifies('kn.idempotent', 'deletes no idempotency key that other kernels still need', async () => {
    const body = { action: 'tool.call', tool: 'files.read', effect_level: 'E1', session_id: newSession() } as never; // the kernel fills in the defaults
    const headers = { 'idempotency-key': 'once' };
    const first = await right().evaluate({ body, headers });
    skewMs = 25 * 3_600_000;
    await otherKernel.workers.housekeeper.run();
    skewMs = 0;
    expect((await right().evaluate({ body, headers })).body).toEqual(first.body);
  });

  it.each(farMs)('sets no fence whose end it would judge by its own clock (off by %d ms)', async (ms) => {
    skewMs = ms;
    const expires_at = new Date(Date.now() + ms / 2).toISOString();
    const command = { kind: 'freeze', epoch: 1, reason: 'a leak', set_by: 'olga', expires_at };
    const input = { params: { scope: 'tenant:acme' }, body: command } as never; // plain strings instead of branded ones
    await expectRefused(() => systemOf(otherKernel.url).putFence(input), ms);
  });

  it('does not start', async () => {
    const started = startKernel(kernelConfigFrom(test.env), { machineClock: () => new Date(Date.now() - 600_000) });
    await expect(started).rejects.toThrow(/^The clock of this kernel is \d+ s behind the database's/);
  });
});

describe('a clock that is a little ahead or behind', () => {
  beforeEach(() => startBoth());
  afterEach(stopBoth);

  it.each([15_000, -15_000])('does not prevent its exports from verifying (clock off by %d ms)', async (ms) => {
    const session = newSession();
    skewMs = ms;
    await decide(ms > 0 ? wrong() : right(), session);
    await decide(ms > 0 ? right() : wrong(), session);
    const exporter = ms > 0 ? right() : wrong();
    expect(await verdictOf(exporter, session)).toEqual({ verdict: 'VERIFIED', fault: null });
  });
});

describe('a statement that a wrong clock dated', () => {
  beforeEach(() => startBoth());
  afterEach(stopBoth);

  it('is not sealed after the clock was corrected', async () => {
    const { provider, ledger, newUlid } = test.kernel.context;
    const chain = { tenant: 'acme' as TenantId, session: newSession() };
    const at = new Date(Date.now() + 600_000).toISOString() as Instant; // matches the schema
    const statement = announcementStatement(provider, { ...announced, ...chain, at, ulid: newUlid(Date.now()) });
    const entry = { chain, wants: [], conclude: (batch: LedgerBatch) => batch.seal(statement) && (() => null) };
    await expectRefused(() => ledger.submit(entry), 600_000);
  });
});

describe('a chain whose last receipt has a date in the future', () => {
  beforeEach(() => startBoth({ unverified: 'its rows are written by hand' }));
  afterEach(stopBoth);

  it('can continue, and does not prevent other chains from verifying', async () => {
    const [session, beside] = [newSession(), newSession()];
    await decide(right(), session);
    await decide(right(), beside);
    await asAdministrator(
      test,
      `UPDATE session_heads SET issued_at = now() + interval '10 minutes' WHERE tenant_id = 'acme' AND session_id = $1`,
      [session],
    );
    const { verdict, receipt } = await decide(wrong(), session);
    expect([verdict, Date.parse(receipt.payload.issued_at) > Date.now() + 500_000]).toEqual(['ALLOW', true]); // the chain is ten minutes ahead
    expect(await verdictOf(wrong(), session)).toEqual({ verdict: 'NOT_VERIFIED', fault: 'TIME_MISMATCH' });
    expect(await verdictOf(wrong(), beside)).toEqual({ verdict: 'VERIFIED', fault: null });
  });
});
