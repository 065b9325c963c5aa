import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionId } from '@countersign/contracts';
import type { BoundaryRecord, EvaluateRequest, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { publicKeyToJwk } from '@countersign/crypto';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyReceipt, verifyRecord } from '@countersign/verifier';
import { ledgerOf } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

let sessions = 0;
const newSession = () => `session-${(sessions += 1)}` as SessionId;

const decide = async (body: Partial<EvaluateRequest>, tenant = 'acme') => {
  const request = { action: 'tool.call', session_id: newSession(), ...body } as EvaluateRequest;
  return (await test.as(tenant).evaluate({ body: request })).body;
};

/** The sealed row, read directly from the database. */
async function sealed(receiptId: string): Promise<{ payload: ReceiptPayload; record: BoundaryRecord }> {
  const { rows } = await test.pool.query<{ payload: string; record: string }>(
    'SELECT payload, record FROM ledger WHERE ulid = $1',
    [receiptId.slice(4)],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('no such receipt');
  return { payload: JSON.parse(row.payload) as ReceiptPayload, record: JSON.parse(row.record) as BoundaryRecord };
}

function trust() {
  const { publicKey, keyId } = test.kernel.context.signers.receipts;
  const valid_from = '2020-01-01T00:00:00.000Z';
  return parseKeySet({
    keys: [
      {
        ...publicKeyToJwk(publicKey),
        kid: keyId,
        use: 'sig',
        alg: 'EdDSA',
        purpose: 'receipts',
        valid_from,
        valid_until: null,
        revoked_at: null,
      },
    ],
  });
}

const reads = { tool: 'files.read', effect_level: 'E1' } as const;

describe('POST /api/v1/evaluate', () => {
  verifies('kn.evaluate', 'seals, for each verdict, one record and one receipt that refer to each other', async () => {
    const cases: [Partial<EvaluateRequest>, string, string][] = [
      [reads, 'ALLOW', 'ALLOWED'],
      [{ tool: 'files.delete' }, 'DENY', 'POLICY_DENIED'],
      [{ tool: 'pay.send' }, 'ESCALATE', 'APPROVAL_REQUIRED'],
    ];
    for (const [body, verdict, reason] of cases) {
      const reply = await decide(body);
      expect([reply.verdict, reply.reason_code, reply.allow]).toEqual([verdict, reason, verdict === 'ALLOW']);
      expect(await ledgerOf(test, reply.receipt.payload.session_id)).toHaveLength(1);
      const { payload, record } = await sealed(reply.receipt_id);
      expect([payload.record_hash, record.receipt_id, record.decision_id]).toEqual([
        record.record_hash,
        reply.receipt_id,
        reply.decision_id,
      ]);
      verifyReceipt({ payload: reply.receipt.payload, signature: reply.receipt.signature }, trust(), nodeProvider);
      verifyRecord(record, { payload, signature: reply.receipt.signature }, nodeProvider);
    }
  });

  it('numbers and links the receipts of a session from 1 without a gap, despite other writers', async () => {
    const session_id = newSession();
    const others = Array.from({ length: 40 }, () => decide(reads));
    const replies = await Promise.all(Array.from({ length: 40 }, () => decide({ ...reads, session_id })));
    await Promise.all(others);
    const chain = replies
      .map(({ receipt }) => receipt)
      .sort((a, b) => a.payload.lamport_clock - b.payload.lamport_clock);
    expect(chain.map(({ payload }) => payload.lamport_clock)).toEqual(chain.map((_, index) => index + 1));
    expect(chain.slice(1).map(({ payload }) => payload.prev_hash)).toEqual(
      chain.slice(0, -1).map(({ receipt_hash }) => receipt_hash),
    );
    expect(chain[0]?.payload.prev_hash).toBeNull();
  });

  it('records no arguments that the policy does not read, and salts their hash per tenant', async () => {
    const args = { secret: 'hunter2' };
    const [acme, globex] = [await decide({ ...reads, args }), await decide({ ...reads, args }, 'globex')];
    expect(JSON.stringify(await sealed(acme.receipt_id))).not.toContain('hunter2');
    expect(acme.receipt.payload.args_hash).not.toBe(globex.receipt.payload.args_hash);
  });

  it('treats a call of an undeclared tool as E4, even if its caller declares a lower level', async () => {
    const reply = await decide({ tool: 'files.list', effect_level: 'E1' });
    expect([reply.reason_code, reply.receipt.payload.effect_level]).toEqual(['NO_MATCHING_RULE', 'E4']);
  });

  it('decides in shadow mode without opening an approval, and marks the receipt as shadow', async () => {
    const reply = await decide({ tool: 'pay.send', mode: 'shadow' });
    expect([reply.verdict, reply.receipt.payload.shadow, reply.approval]).toEqual(['ESCALATE', true, undefined]);
    const allowed = await decide({ ...reads, mode: 'shadow' });
    expect([allowed.verdict, allowed.allow, allowed.shadow]).toEqual(['ALLOW', false, true]);
  });

  it('lists every gate in the trace, in order', async () => {
    const { trace } = await decide({ tool: 'files.delete' });
    expect(trace.map(({ gate, outcome }) => `${gate}:${outcome}`)).toEqual([
      'request:pass',
      'fence:pass',
      'policy:pass',
      'identity:pass',
      'relationship:not_applicable',
      'registry:not_applicable',
      'arguments:not_applicable',
      'scopes:not_applicable',
      'sandbox:not_applicable',
      'egress:not_applicable',
      'provenance:not_applicable',
      'rules:deny',
      'budget:not_reached',
      'approval:not_reached',
    ]);
  });

  it('returns the decision in its headers too', async () => {
    const { headers, body } = await test
      .as('acme')
      .evaluate({ body: { action: 'tool.call', session_id: newSession(), ...reads } as EvaluateRequest });
    const named = [
      'x-gov-decision-id',
      'x-gov-verdict',
      'x-gov-reason-code',
      'x-gov-receipt-id',
      'x-gov-policy-hash',
      'x-gov-lamport-clock',
    ];
    expect(named.map((name) => headers.get(name))).toEqual([
      body.decision_id,
      'ALLOW',
      'ALLOWED',
      body.receipt_id,
      body.policy_hash,
      String(body.lamport_clock),
    ]);
  });
});
