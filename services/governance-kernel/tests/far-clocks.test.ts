import { Writable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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
import { clientOf, starterPolicy, startTestKernel, systemOf, type KernelClient, type TestKernel } from './_kernel.ts';

/** A kernel whose machine has a clock that a test puts wrong, beside one whose clock is right, on one database. */
let test: TestKernel;
let other: StartedKernel;
let skewMs = 0;
const lines: string[] = [];

beforeEach(async () => {
  // Nothing is written but what a test asks for. The first checkpoint is due with the first receipt, so it is made here.
  test = await startTestKernel({ env: { GOV_CHECKPOINT_INTERVAL: '1h' } });
  await test.activate('*', starterPolicy);
  await test.kernel.context.checkpoints.create();
  const stream = new Writable({
    write: (line: Buffer, _encoding, done) => {
      lines.push(line.toString());
      done();
    },
  });
  other = await startKernel(kernelConfigFrom(test.env), {
    machineClock: () => new Date(Date.now() + skewMs),
    log: createLogger({ service: 'test', layout: 'json', stream }),
  });
});
beforeEach(() => {
  lines.length = 0;
});
afterEach(() => {
  skewMs = 0;
});
afterEach(async () => {
  await other.stop();
  await test.close();
});

const right = () => test.as('acme', 'agent');
const wrong = () => clientOf(other, 'acme', 'agent');
const farMs = [600_000, 30_000, -600_000, -30_000];

async function decide(client: KernelClient, session_id: SessionId, tool = 'files.read') {
  const body = { action: 'tool.call', tool, effect_level: 'E1', session_id } as EvaluateRequest; // its defaults are the kernel's
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

/** A slow machine may answer no look at the database in time, so readiness is looked at until it is as expected. */
const expectReadiness = (expected: Awaited<ReturnType<typeof readiness>>) =>
  reaching(readiness, (seen) => isDeepStrictEqual(seen, expected));

async function readiness() {
  const response = await fetch(`${other.healthUrl}/health/ready`);
  const { checks } = (await response.json()) as { checks: Record<string, string> }; // an answer of the kernel
  return { status: response.status, clock: checks['clock'], database: checks['database'] };
}

/** The content of outbox, ledger and the list of checkpoints. */
async function written() {
  const count = (table: string) => `(SELECT count(*)::int FROM ${table}) AS ${table}`;
  const tables = ['ledger', 'outbox', 'approvals', 'session_heads', 'checkpoints'];
  return (await test.pool.query(`SELECT ${tables.map(count).join(', ')}`)).rows[0] as Record<string, number>;
}

/** Refused with the code for what cannot be sealed, in a sentence that names the distance, and nothing is left behind. */
async function expectRefused(work: () => Promise<unknown>, ms: number): Promise<void> {
  const before = await written();
  const error = await work().catch((thrown: unknown) => thrown);
  if (!isAppError(error)) throw new Error('it was not refused', { cause: error });
  expect([error.code, error.status]).toEqual(['RECEIPT_STORE_UNAVAILABLE', 503]);
  const [, seconds, side] =
    /^The clock of this kernel is (\d+) s (ahead of|behind) the database's/.exec(error.message) ?? [];
  expect(side).toBe(ms > 0 ? 'ahead of' : 'behind');
  // The time of the question itself is not counted as distance.
  expect(Number(seconds) * 1_000).toBeGreaterThan(Math.abs(ms) - 10_000);
  expect(Number(seconds) * 1_000).toBeLessThanOrEqual(Math.abs(ms));
  expect(await written()).toEqual(before);
}

const told = () =>
  lines.map((line) => (JSON.parse(line) as { event: string }).event).filter((event) => /^clock/.test(event));

describe('a kernel whose clock is far from that of the database', () => {
  verifies('kn.chain', 'leaves nothing for which an export of a right kernel would not verify', async () => {
    const [asked, exported] = [newSession(), newSession()];
    for (const session of [asked, exported]) await decide(right(), session);
    skewMs = 600_000;
    await Promise.allSettled([decide(wrong(), asked), verdictOf(wrong(), exported)]);
    await decide(right(), asked);
    for (const session of [asked, exported])
      expect(await verdictOf(right(), session)).toEqual({ verdict: 'VERIFIED', fault: null });
  });

  it.each(farMs)('exports nothing: %d ms', async (ms) => {
    const session = newSession();
    await decide(right(), session);
    skewMs = ms;
    await expectRefused(() => verdictOf(wrong(), session), ms);
  });

  it.each(farMs)('seals no decision: %d ms', async (ms) => {
    const session = newSession();
    skewMs = ms;
    await expectRefused(() => decide(wrong(), session), ms);
    // An approval is announced by an event, so this one is decided under locks.
    await expectRefused(() => decide(wrong(), session, 'pay.send'), ms);
    skewMs = 0;
    expect((await decide(wrong(), session)).verdict).toBe('ALLOW');
  });

  it.each(farMs)('signs no checkpoint: %d ms', async (ms) => {
    await decide(right(), newSession());
    skewMs = ms;
    await expectRefused(() => other.context.checkpoints.create(), ms);
    skewMs = 0;
    expect((await other.context.checkpoints.create()).tree_size).toBeGreaterThan(0);
  });

  it('is not ready, and says why', async () => {
    await expectReadiness({ status: 200, clock: 'up', database: 'up' });
    for (const ms of farMs) {
      skewMs = ms;
      await expectReadiness({ status: 503, clock: 'down', database: 'up' });
    }
    skewMs = 0;
    await expectReadiness({ status: 200, clock: 'up', database: 'up' });
  });

  it('tells it once, however many call, and once that it is over', async () => {
    skewMs = 600_000;
    const calls = Array.from({ length: 20 }, () => decide(wrong(), newSession()));
    expect(new Set((await Promise.allSettled(calls)).map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(told()).toEqual(['clock.far_off']);
    skewMs = 0;
    for (let nth = 0; nth < 3; nth += 1) await decide(wrong(), newSession());
    expect(told()).toEqual(['clock.far_off', 'clock.near_again']);
  });

  verifies('kn.idempotent', 'removes no key that other kernels count on, so one key acts once', async () => {
    const body = { action: 'tool.call', tool: 'files.read', effect_level: 'E1', session_id: newSession() } as never; // its defaults are the kernel's
    const headers = { 'idempotency-key': 'once' };
    const first = await right().evaluate({ body, headers });
    skewMs = 25 * 3_600_000;
    await other.workers.housekeeper.run();
    skewMs = 0;
    expect((await right().evaluate({ body, headers })).body).toEqual(first.body);
  });

  it.each(farMs)('refuses no end of a fence by its own time: %d ms', async (ms) => {
    skewMs = ms;
    const expires_at = new Date(Date.now() + ms / 2).toISOString();
    const command = { kind: 'freeze', epoch: 1, reason: 'a leak', set_by: 'olga', expires_at };
    const input = { params: { scope: 'tenant:acme' }, body: command } as never; // branded by the schema
    await expectRefused(() => systemOf(other.url).putFence(input), ms);
  });

  it('does not start', async () => {
    const started = startKernel(kernelConfigFrom(test.env), { machineClock: () => new Date(Date.now() - 600_000) });
    await expect(started).rejects.toThrow(/^The clock of this kernel is \d+ s behind the database's/);
  });
});

describe('a clock that is a little ahead or behind', () => {
  it.each([15_000, -15_000])(
    'leaves what it dated, and what it signed as a checkpoint, verified: %d ms',
    async (ms) => {
      const session = newSession();
      skewMs = ms;
      await decide(ms > 0 ? wrong() : right(), session);
      await decide(ms > 0 ? right() : wrong(), session);
      const exporter = ms > 0 ? right() : wrong();
      expect(await verdictOf(exporter, session)).toEqual({ verdict: 'VERIFIED', fault: null });
    },
  );
});

describe('what was dated by a clock that is right again', () => {
  it('is not sealed as it was dated', async () => {
    const { provider, ledger, newUlid } = test.kernel.context;
    const chain = { tenant: 'acme' as TenantId, session: newSession() };
    const at = new Date(Date.now() + 600_000).toISOString() as Instant; // within its schema
    const statement = announcementStatement(provider, { ...announced, ...chain, at, ulid: newUlid(Date.now()) });
    const entry = { chain, wants: [], conclude: (batch: LedgerBatch) => batch.seal(statement) && (() => null) };
    await expectRefused(() => ledger.submit(entry), 600_000);
  });
});

describe('a chain that a wrong clock has left ahead', () => {
  it('goes on, and keeps nothing else from being verified', async () => {
    const [session, beside] = [newSession(), newSession()];
    await decide(right(), session);
    await decide(right(), beside);
    await asAdministrator(
      test,
      `UPDATE session_heads SET issued_at = now() + interval '10 minutes' WHERE tenant_id = 'acme' AND session_id = $1`,
      [session],
    );
    const { verdict, receipt } = await decide(wrong(), session);
    expect([verdict, Date.parse(receipt.payload.issued_at) > Date.now() + 500_000]).toEqual(['ALLOW', true]); // of ten minutes ahead
    expect(await verdictOf(wrong(), session)).toEqual({ verdict: 'NOT_VERIFIED', fault: 'TIME_MISMATCH' });
    expect(await verdictOf(wrong(), beside)).toEqual({ verdict: 'VERIFIED', fault: null });
  });
});
