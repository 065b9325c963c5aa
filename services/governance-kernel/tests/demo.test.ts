import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { DemoAction, type SignedReceipt, type StoredReceipt } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { DemoAllowance } from '../src/doors/demo/demo-allowance.ts';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { kernelRoutes, starterPolicy, startTestKernel, type KernelClient, type TestKernel } from './_kernel.ts';
import { seal } from './_seal.ts';

let test: TestKernel;
let visitor: KernelClient;
beforeEach(async () => {
  test = await startTestKernel();
  visitor = createClient(kernelRoutes, { baseUrl: test.kernel.url });
});
afterEach(() => test.close());

const signed = ({ payload, signature }: StoredReceipt): SignedReceipt => ({ payload, signature });
const receiptIds = async (tenant: string) => {
  const { body } = await test.as(tenant).listReceipts({ query: { limit: 200 } });
  return body.data.map(({ payload }) => payload.receipt_id);
};

describe('the demo', () => {
  verifies(
    'kn.demo',
    'decides every sample action for a visitor without credentials, in the ordinary decision cycle',
    async () => {
      const verdicts: Record<string, string> = {};
      for (const action_id of DemoAction.options) {
        const { body, headers } = await visitor.runDemo({ body: { action_id, args: {} } });
        verdicts[action_id] = body.verdict;
        expect(body.receipt.payload).toMatchObject({ tenant_id: 'demo', lamport_clock: 1, verdict: body.verdict });
        expect(headers.get('x-gov-receipt-id')).toBe(body.receipt_id);
        const { body: record } = await test.as('demo').verifyRecord({ params: { record_id: body.record_id } });
        expect(record.verified).toBe(true);
      }
      expect(verdicts).toEqual({
        read_ticket: 'ALLOW',
        draft_reply: 'ALLOW',
        small_refund: 'ALLOW',
        large_refund: 'ESCALATE',
        modify_policy: 'ESCALATE',
        dangerous_shell: 'DENY',
        export_customer_list: 'DENY',
      });
    },
  );

  verifies('kn.demo', 'verifies its own receipt and detects every kind of tampering', async () => {
    const { body: run } = await visitor.runDemo({ body: { action_id: 'small_refund', args: {} } });
    const shown = { receipt: signed(run.receipt), expected_receipt_hash: run.receipt_hash };
    const { body: genuine } = await visitor.verifyDemo({ body: shown });
    expect(genuine).toMatchObject({ valid: true, signature_valid: true, hash_matches: true, code: null });
    for (const mutation of ['flip_verdict', 'change_action', 'change_principal', 'flip_signature_bit'] as const) {
      const { body } = await visitor.tamperDemo({ body: { ...shown, mutation } });
      expect(body).toMatchObject({ valid: false, signature_valid: false, mutation, original_hash: run.receipt_hash });
      const tampered = body.tampered_receipt as SignedReceipt;
      const { body: again } = await visitor.verifyDemo({ body: { ...shown, receipt: tampered } });
      expect(again).toMatchObject({ valid: false, code: body.code, receipt_hash: body.receipt_hash });
    }
  });

  verifies('kn.demo', 'seals nothing for other tenants, even if the visitor names one', async () => {
    await test.activate('*', starterPolicy);
    await seal(test, { tenant: 'shop' });
    const before = [await receiptIds('shop'), await receiptIds('system')];
    const args = { tenant_id: 'shop', tenant: 'shop', amount_minor: 999_999 };
    const headers = { 'x-gov-tenant-id': 'shop', 'x-gov-principal-id': 'owner' };
    const { body } = await visitor.runDemo({ body: { action_id: 'small_refund', args }, headers });
    expect(body.receipt.payload).toMatchObject({ tenant_id: 'demo', principal_id: 'demo-agent', verdict: 'ESCALATE' });
    expect([await receiptIds('shop'), await receiptIds('system')]).toEqual(before);
  });

  it('requests no approval, so that visitors cannot fill the list of approvals', async () => {
    const { body } = await visitor.runDemo({ body: { action_id: 'large_refund', args: {} } });
    expect([body.verdict, body.approval]).toEqual(['ESCALATE', undefined]);
    expect((await test.as('demo').listApprovals({ query: {} })).body.data).toEqual([]);
  });

  it('exists only when it is turned on', async () => {
    const { GOV_DEMO: _, ...env } = test.env;
    const without = await startKernel(kernelConfigFrom(env));
    try {
      const stranger = createClient(kernelRoutes, { baseUrl: without.url });
      const pending = stranger.runDemo({ body: { action_id: 'read_ticket', args: {} } });
      await expect(pending).rejects.toMatchObject({ code: 'ROUTE_NOT_FOUND' });
    } finally {
      await without.stop();
    }
  });

  it('adds at most 1000 decisions per hour to the log', () => {
    let nowMs = 0;
    const allowance = new DemoAllowance(() => new Date(nowMs));
    const take = (times: number) => Array.from({ length: times }, () => allowance.take());
    nowMs = 3_600_000;
    take(1_000);
    expect(() => take(1)).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
    nowMs += 3_600_000;
    take(1);
  });

  it('rejects a body that is much larger than a receipt', async () => {
    const args = { note: 'x'.repeat(16_384) };
    const refused = visitor.runDemo({ body: { action_id: 'read_ticket', args } });
    await expect(refused).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('has its own rate limit, which other public routes do not share', async () => {
    const env = { ...test.env, GOV_RATE_LIMITS: '1', GOV_RATE_LIMIT_DEMO: '2' };
    const limited = await startKernel(kernelConfigFrom(env));
    const body = JSON.stringify({ action_id: 'read_ticket', args: {} });
    const headers = { 'content-type': 'application/json' };
    const ask = async () => (await fetch(`${limited.url}/api/demo/run`, { method: 'POST', headers, body })).status;
    try {
      expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
      expect((await fetch(`${limited.url}/healthz`)).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  it('keeps its policy and epoch after a restart', async () => {
    const policies = async () => (await visitor.runDemo({ body: { action_id: 'read_ticket', args: {} } })).body;
    const before = await policies();
    await test.restart();
    visitor = createClient(kernelRoutes, { baseUrl: test.kernel.url });
    const { policy_hash, policy_epoch, verdict } = await policies();
    expect({ policy_hash, policy_epoch, verdict }).toEqual({
      policy_hash: before.policy_hash,
      policy_epoch: 1,
      verdict: 'ALLOW',
    });
  });

  it('decides and seals nothing once the hourly limit of all visitors is reached', async () => {
    const { demoAllowance } = test.kernel.context;
    const untilRefused = () => {
      for (;;) demoAllowance.take();
    };
    expect(untilRefused).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
    const before = await receiptIds('demo');
    const refused = visitor.runDemo({ body: { action_id: 'read_ticket', args: {} } });
    await expect(refused).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await receiptIds('demo')).toEqual(before);
  });
});
