import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { isAppError, type Instant, type SessionId, type TenantId } from '@countersign/contracts';
import type { EvaluateRequest } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { announcementStatement } from '@countersign/receipts';
import { createLogger } from '@countersign/service-kit';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import type { LedgerBatch } from '../src/ledger/batch.ts';
import { asAdministrator } from './_administrator.ts';
import { announced } from './_announced.ts';
import { newSession } from './_caller.ts';
import { clientOf, starterPolicy, startTestKernel, type KernelClient, type TestKernel } from './_kernel.ts';

/** A kernel whose machine has a clock that a test puts wrong, beside one whose clock is right, on one database. */
let test: TestKernel;
let other: StartedKernel;
let skewMs = 0;
const lines: string[] = [];

beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
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
afterAll(async () => {
  await other.stop();
  await test.close();
});

const right = () => test.as('acme', 'agent');
const wrong = () => clientOf(other, 'acme', 'agent');
const far = [
  ['ahead of', 600_000],
  ['ahead of', 21_000],
  ['behind', -600_000],
  ['behind', -21_000],
] as const;

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

async function readiness() {
  const response = await fetch(`${other.healthUrl}/health/ready`);
  const { checks } = (await response.json()) as { checks: Record<string, string> }; // an answer of the kernel
  return { status: response.status, clock: checks['clock'], database: checks['database'] };
}

/** What an outbox, a ledger and the list of checkpoints hold. */
async function written() {
  const count = (table: string) => `(SELECT count(*)::int FROM ${table}) AS ${table}`;
  const tables = ['ledger', 'outbox', 'approvals', 'session_heads', 'checkpoints'];
  return (await test.pool.query(`SELECT ${tables.map(count).join(', ')}`)).rows[0] as Record<string, number>;
}

/** Refused with the code for what cannot be sealed, in a sentence that names the distance, and nothing is left behind. */
async function expectRefused(work: () => Promise<unknown>, distance: string): Promise<void> {
  const before = await written();
  const error = await work().catch((thrown: unknown) => thrown);
  if (!isAppError(error)) throw new Error('it was not refused', { cause: error });
  expect([error.code, error.status]).toEqual(['RECEIPT_STORE_UNAVAILABLE', 503]);
  expect(error.message).toContain(`The clock of this kernel is ${distance} the database's`);
  expect(await written()).toEqual(before);
}

const told = () =>
  lines.map((line) => (JSON.parse(line) as { event: string }).event).filter((event) => /^clock/.test(event));
const seconds = (ms: number) => `${Math.abs(ms) / 1_000} s`;

describe('a kernel whose clock is far from that of the database', () => {
  verifies('kn.chain', 'exports nothing, and what a right kernel exports verifies all the same', async () => {
    const session = newSession();
    await decide(right(), session);
    skewMs = 600_000;
    await expectRefused(() => wrong().exportReceipts({ query: { session_id: session } }), '600 s ahead of');
    await expectRefused(() => decide(wrong(), session), '600 s ahead of');
    expect(await verdictOf(right(), session)).toEqual({ verdict: 'VERIFIED', fault: null });
    await decide(right(), session);
    expect(await verdictOf(right(), session)).toEqual({ verdict: 'VERIFIED', fault: null });
  });

  it.each(far)('seals no decision: %s by %d ms', async (side, ms) => {
    const session = newSession();
    skewMs = ms;
    await expectRefused(() => decide(wrong(), session), `${seconds(ms)} ${side}`);
    // An approval is announced by an event, so this one is decided under locks.
    await expectRefused(() => decide(wrong(), session, 'pay.send'), `${seconds(ms)} ${side}`);
    skewMs = 0;
    expect((await decide(wrong(), session)).verdict).toBe('ALLOW');
  });

  it.each(far)('signs no checkpoint: %s by %d ms', async (side, ms) => {
    await decide(right(), newSession());
    skewMs = ms;
    await expectRefused(() => other.context.checkpoints.create(), `${seconds(ms)} ${side}`);
    skewMs = 0;
    expect((await other.context.checkpoints.create()).tree_size).toBeGreaterThan(0);
  });

  it('is not ready, and says why', async () => {
    expect(await readiness()).toEqual({ status: 200, clock: 'up', database: 'up' });
    for (const [, ms] of far) {
      skewMs = ms;
      expect(await readiness()).toEqual({ status: 503, clock: 'down', database: 'up' });
    }
    skewMs = 0;
    expect(await readiness()).toEqual({ status: 200, clock: 'up', database: 'up' });
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

  it('does not start', async () => {
    const started = startKernel(kernelConfigFrom(test.env), { machineClock: () => new Date(Date.now() - 600_000) });
    await expect(started).rejects.toThrow("The clock of this kernel is 600 s behind the database's");
  });
});

describe('clocks that are as far apart as two kernels may be', () => {
  it.each([19_000, -19_000])('leave what both have sealed and signed verified: %d ms', async (ms) => {
    const session = newSession();
    skewMs = ms;
    await decide(ms > 0 ? wrong() : right(), session);
    await decide(ms > 0 ? right() : wrong(), session);
    const exporter = ms > 0 ? right() : wrong();
    expect(await verdictOf(exporter, session)).toEqual({ verdict: 'VERIFIED', fault: null });
  });
});

describe('what was dated by a clock that is right again', () => {
  it('is not sealed', async () => {
    const { provider, ledger, newUlid } = test.kernel.context;
    const chain = { tenant: 'acme' as TenantId, session: newSession() };
    const at = new Date(Date.now() + 600_000).toISOString() as Instant; // within its schema
    const statement = announcementStatement(provider, { ...announced, ...chain, at, ulid: newUlid(Date.now()) });
    const entry = { chain, wants: [], conclude: (batch: LedgerBatch) => batch.seal(statement) && (() => null) };
    await expectRefused(() => ledger.submit(entry), '600 s ahead of');
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
    expect([verdict, Date.parse(receipt.payload.issued_at) > Date.now() + 500_000]).toEqual(['ALLOW', true]);
    expect(await verdictOf(wrong(), session)).toEqual({ verdict: 'NOT_VERIFIED', fault: 'TIME_MISMATCH' });
    expect(await verdictOf(wrong(), beside)).toEqual({ verdict: 'VERIFIED', fault: null });
  });
});
