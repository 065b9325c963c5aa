import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { encodeBase64Url } from '@countersign/crypto';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import {
  runReaching,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { KernelStub, type StubFault } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
let kernel: KernelStub;
let people = 0;

beforeAll(async () => {
  database = await testDatabase();
});

beforeEach(async () => {
  kernel = new KernelStub();
  await kernel.start();
  gateway = await startTestGateway(testConfig(database, { GOV_GOVERNANCE_URL: kernel.url, GOV_FAIL_CLOSED: '1' }));
  person = await signInAs(gateway.url, `person-${(people += 1)}@example.org`);
});

afterEach(async () => {
  await gateway.stop();
  await kernel.kill();
});

afterAll(async () => {
  await database?.drop();
});

/** Runs a task to its end and returns the run with its receipts. */
async function receiptsOfRun(fault: StubFault = 'none') {
  kernel.fault = fault;
  const run = await runReaching(person, (await startRun(person)).taskId);
  const { data } = (await person.client.listGovernanceReceipts({ query: { limit: 100 } })).body;
  return { run, receipts: data.filter(({ runId }) => runId === run.id) };
}
const auditOf = async (action: string) => (await person.client.listAudit({ query: { action } })).body.data;

describe('a receipt that fails verification', () => {
  it.each<[StubFault, string]>([
    ['unsigned', 'SIGNATURE_INVALID'],
    ['other_session', 'session'],
    ['old', 'age'],
  ])('is kept with its cause and shown as failed: %s', async (lie, fault) => {
    await receiptsOfRun(); // pins the keys
    const { run, receipts } = await receiptsOfRun(lie);
    expect(run.error?.code).toBe('RECEIPT_UNVERIFIED');
    expect(receipts).toMatchObject([{ verification: 'failed', fault }]);
    const decisionId = receipts[0]?.decisionId ?? '';
    const { body } = await person.client.getGovernanceReceipt({ params: { decisionId } });
    expect(body).toMatchObject({ verification: 'failed', fault, receipt: { payload: { decision_id: decisionId } } });
    expect(await auditOf('receipt.refused')).toMatchObject([{ verdict: 'fail', reason: fault, subject: decisionId }]);
  });

  it('and belongs to another tenant is not shown here: the audit log has only its hash', async () => {
    await receiptsOfRun();
    expect((await receiptsOfRun('other_tenant')).receipts).toEqual([]);
    const [entry] = await auditOf('receipt.refused');
    expect(entry).toMatchObject({ reason: 'tenant', subject: null, details: { isKept: false } });
    expect(entry?.details).toHaveProperty('receiptHash');
  });
});

describe('a receipt whose key is revoked later', () => {
  it('fails if it arrived or was issued after that time, and earlier ones stay verified', async () => {
    const before = await receiptsOfRun();
    const after = await receiptsOfRun();
    expect([...before.receipts, ...after.receipts].map(({ verification }) => verification)).toEqual([
      'verified',
      'verified',
    ]);
    kernel.revokedAt = after.receipts[0]?.receivedAt ?? '';
    const shown = async () => (await person.client.listGovernanceReceipts()).body.data;
    await until(async () => (await shown()).some(({ verification }) => verification === 'failed'));
    expect(await shown()).toMatchObject([
      { runId: after.run.id, verification: 'failed', fault: 'KEY_REVOKED' },
      { runId: before.run.id, verification: 'verified', fault: null },
    ]);
    const decisionId = after.receipts[0]?.decisionId;
    expect(await auditOf('receipt.failed')).toMatchObject([
      { verdict: 'fail', reason: 'KEY_REVOKED', subject: decisionId },
    ]);
    const next = await receiptsOfRun();
    expect(next.run.error?.code).toBe('RECEIPT_UNVERIFIED');
    expect(next.receipts).toMatchObject([{ verification: 'failed', fault: 'KEY_REVOKED' }]);
  });

  it('also fails when an operator has unpinned the key before this gateway read the revocation', async () => {
    const { run, receipts } = await receiptsOfRun();
    await gateway.stop();
    kernel.revokedAt = receipts[0]?.receivedAt ?? '';
    const second = encodeBase64Url(generateSigningKey().publicKey);
    const config = { GOV_GOVERNANCE_URL: kernel.url, GOV_FAIL_CLOSED: '1', GOV_TRUSTED_PUBLIC_KEYS: second };
    gateway = await startTestGateway(testConfig(database, config));
    ({ client: person.client } = await signInAs(gateway.url, person.user.email ?? ''));
    const shown = async () => (await person.client.listGovernanceReceipts()).body.data;
    await until(async () => (await shown()).some(({ verification }) => verification === 'failed'));
    expect(await shown()).toMatchObject([{ runId: run.id, fault: 'KEY_REVOKED' }]);
  });
});

describe('a receipt under a trust list', () => {
  beforeEach(async () => {
    await gateway.stop();
    kernel.trust.publish([{ key: kernel.signer }]);
    const trust = { GOV_TRUST_ROOT: kernel.trust.root, GOV_TRUSTED_PUBLIC_KEYS: kernel.publicKey };
    const config = { GOV_GOVERNANCE_URL: kernel.url, GOV_FAIL_CLOSED: '1', ...trust };
    gateway = await startTestGateway(testConfig(database, config));
    person = await signInAs(gateway.url, `person-${(people += 1)}@example.org`);
  });

  verifies('kn.trust', 'follows rotations and revocations while the gateway runs', async () => {
    const before = await receiptsOfRun();
    const old = kernel.signer;
    kernel.signer = createSigner(generateSigningKey().privateKeyPem);
    const unlisted = await receiptsOfRun();
    expect(unlisted.receipts).toMatchObject([{ verification: 'failed', fault: 'KEY_UNKNOWN' }]);
    const issuedAt = Date.parse(before.receipts[0]?.receivedAt ?? '');
    const [revoked_at, valid_from] = [issuedAt - 60_000, issuedAt].map((at) => new Date(at).toISOString());
    const now = { key: kernel.signer, window: { valid_from: revoked_at ?? '' } };
    kernel.trust.publish([{ key: old, window: { valid_until: valid_from ?? '' } }, now]);
    const rotated = await receiptsOfRun();
    expect(rotated.receipts).toMatchObject([{ verification: 'verified' }]);
    kernel.trust.publish([{ key: old, window: { valid_until: valid_from ?? '', revoked_at: revoked_at ?? '' } }, now]);
    const shown = async () => (await person.client.listGovernanceReceipts()).body.data;
    await until(async () => (await shown()).some(({ fault }) => fault === 'KEY_REVOKED'));
    expect((await shown()).find(({ runId }) => runId === before.run.id)).toMatchObject({ fault: 'KEY_REVOKED' });
    kernel.signer = old;
    expect((await receiptsOfRun()).receipts).toMatchObject([{ verification: 'failed', fault: 'KEY_EXPIRED' }]);
  });
});
