import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalId, TenantId } from '@countersign/contracts';
import type { Approval, ApprovalStatement } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, encodeBase64Url } from '@countersign/crypto';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { verifies } from '@countersign/testkit/verifies';
import type { z } from 'zod';
import { readApproverKeys, requireSameSubject } from '../src/controls/approvals/approver-keys.ts';
import { kernelConfigFrom } from '../src/index.ts';
import { getApproval } from '../src/store/approval-store.ts';
import { send, Caller, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: quorum
version: '1'
rules:
  - { id: two, effect: escalate, match: { tool: [two.*] }, approval: { quorum: 2 } }
  - { id: named, effect: escalate, match: { tool: [named.*] }, approval: { quorum: 2, approvers: [alice, bob] } }
`;

type Statement = z.infer<typeof ApprovalStatement>;
const signers = Object.fromEntries(
  ['alice', 'bob', 'agent', 'foreign'].map((name) => [name, createSigner(generateSigningKey().privateKeyPem)]),
);
const enrolled = (name: string, tenant = 'acme') => ({
  tenant_id: tenant,
  principal_id: name,
  key_id: `${name}-key`,
  public_key: encodeBase64Url(signers[name]?.publicKey ?? new Uint8Array()),
});

let test: TestKernel;
let agent: Caller, alice: Caller, bob: Caller;
beforeAll(async () => {
  // This key comes first, so that a search by key_id alone would find the wrong key.
  const namesake = { ...enrolled('foreign', 'globex'), principal_id: 'alice', key_id: 'alice-key' };
  const keys = [namesake, enrolled('alice'), enrolled('bob'), enrolled('agent')];
  test = await startTestKernel({ env: { GOV_APPROVER_KEYS: JSON.stringify(keys) } });
  await test.activate('*', policy);
  agent = new Caller(test);
  [alice, bob] = [new Caller(test, 'acme', 'alice'), new Caller(test, 'acme', 'bob')];
});
afterAll(() => test.close());

const escalated = async (tool = 'two.keys') => {
  const call = { tool, session_id: newSession() };
  const id = send(await agent.decide(call));
  return { call, id };
};

function statementOf(approval: Approval, changes: Partial<Statement> = {}): Statement {
  const { approval_id, tenant_id, intent_hash, judged_hash, policy_hash, ceremony_hash } = approval;
  const common = { approval_id, tenant_id, intent_hash, judged_hash, policy_hash, ceremony_hash };
  const statement = { type: 'countersign.approval.v1', ...common, approver_id: 'alice', decision: 'approve' };
  return { ...statement, ...changes } as Statement; // plain strings instead of branded ones
}

function sign(statement: Statement, name: string = statement.approver_id, key_id = `${name}-key`) {
  const value = signers[name]?.sign(canonicalBytes(statement)) ?? new Uint8Array();
  return { statement, key_id, signature: encodeBase64Url(value) };
}
const submit = async (signed: ReturnType<typeof sign>) => (await test.system.approveByKernel({ body: signed })).body;
const signAs = async (name: string, id: ApprovalId, decision: 'approve' | 'deny' = 'approve') =>
  await submit(sign(statementOf(await alice.approval(id), { approver_id: name as never, decision })));

describe('a quorum', () => {
  verifies('kn.approve.quorum', 'counts distinct people, each once, and never the requester', async () => {
    const { call, id } = await escalated();
    expect(await refusal(agent.move('approve', id))).toBe('PERMISSION_DENIED');
    expect(await alice.move('approve', id)).toMatchObject({ state: 'pending', approved_by: ['alice'] });
    expect(await refusal(alice.move('approve', id))).toBe('ILLEGAL_TRANSITION');
    expect(answerOf(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(await bob.decideOnPage(id)).toMatchObject({ state: 'approved', approved_by: ['alice', 'bob'] });
    expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
  });

  verifies('kn.approve.quorum', 'counts the operator key once, whatever names it claims', async () => {
    const { call, id } = await escalated();
    await alice.move('approve', id);
    expect(await refusal(bob.move('approve', id))).toBe('ILLEGAL_TRANSITION');
    expect(await alice.approval(id)).toMatchObject({ state: 'pending', approved_by: ['alice'] });
    expect(answerOf(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(await bob.move('deny', id)).toMatchObject({ state: 'denied' });
  });

  verifies('kn.approve.quorum', 'counts one vote of a person who approves by key and by signature', async () => {
    const { id } = await escalated();
    await alice.move('approve', id);
    expect(await refusal(signAs('alice', id))).toBe('ILLEGAL_TRANSITION');
    expect(await signAs('bob', id)).toMatchObject({ state: 'approved' });
  });

  verifies('kn.approve.quorum', 'needs separate keys: two people may not share a key, nor two keys a key_id', () => {
    const shared = { ...enrolled('alice'), principal_id: 'mallory', key_id: 'other' };
    expect(() => readApproverKeys(JSON.stringify([enrolled('alice'), shared]))).toThrow('twice');
    expect(() =>
      readApproverKeys(JSON.stringify([enrolled('alice'), { ...enrolled('bob'), key_id: 'alice-key' }])),
    ).toThrow('twice');
    const smallOrder = { ...enrolled('alice'), public_key: encodeBase64Url(new Uint8Array(32)) };
    expect(() => readApproverKeys(JSON.stringify([smallOrder]))).toThrow('not a safe Ed25519');
    expect(() => readApproverKeys('{')).toThrow('must be');
    for (const keys of [JSON.stringify([smallOrder]), '{'])
      expect(() => kernelConfigFrom({ ...test.env, GOV_APPROVER_KEYS: keys })).toThrow(
        'GOV_APPROVER_KEYS is malformed',
      );
  });

  verifies('kn.approve.quorum', 'accepts only the people that the rule names', async () => {
    const { call, id } = await escalated('named.thing');
    expect(await refusal(new Caller(test, 'acme', 'carol').move('approve', id))).toBe('PERMISSION_DENIED');
    await alice.move('approve', id);
    await bob.decideOnPage(id);
    expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
  });

  verifies('kn.approve.quorum', 'refuses the later of two parallel votes: the first changed the state', async () => {
    const { id } = await escalated();
    const { ceremony_hash } = await alice.approval(id);
    const params = { approval_id: id, action: 'approve' as const };
    const vote = (who: Caller) =>
      who.client.transitionApproval({ params, body: { expected_ceremony_hash: ceremony_hash } });
    const votes = await Promise.allSettled([vote(alice), vote(bob)]);
    expect(votes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await alice.approval(id)).approved_by).toHaveLength(1);
  });
});

describe('approval by signature', () => {
  it('seals the signed statement for offline verification', async () => {
    const { call, id } = await escalated();
    const statement = statementOf(await alice.approval(id));
    const signed = sign(statement);
    await submit(signed);
    const [, approval] = await ledgerOf(test, call.session_id);
    expect(approval?.payload).toMatchObject({ kind: 'approval', principal_id: 'alice', approval_id: id });
    expect(approval?.record?.intent.facts).toMatchObject({ credential: 'ed25519', ...signed });
  });

  it('denies by signature too', async () => {
    const { call, id } = await escalated();
    expect(await signAs('bob', id, 'deny')).toMatchObject({ state: 'denied' });
    expect(answerOf(await agent.decide({ ...call, approval_grant: id }))).toBe('DENY APPROVAL_REJECTED');
  });

  it('accepts no statement that differs from the approval, and no signature of another person', async () => {
    const { id } = await escalated();
    const approval = await alice.approval(id);
    const second = `sha256:${'1'.repeat(64)}` as Approval['ceremony_hash'];
    const cases: [string, ReturnType<typeof sign>][] = [
      ['PRECONDITION_FAILED', sign(statementOf(approval, { ceremony_hash: second }))],
      ['PRECONDITION_FAILED', sign(statementOf(approval, { intent_hash: second }))],
      ['PRECONDITION_FAILED', sign(statementOf(approval, { judged_hash: second }))],
      ['PRECONDITION_FAILED', sign(statementOf(approval, { policy_hash: second }))],
      ['PRECONDITION_FAILED', sign(statementOf(approval, { policy_hash: null }))],
      ['PERMISSION_DENIED', sign(statementOf(approval, { approver_id: 'bob' as never }), 'alice')],
      ['PERMISSION_DENIED', sign(statementOf(approval), 'bob', 'alice-key')],
      ['PERMISSION_DENIED', sign(statementOf(approval), 'foreign', 'alice-key')],
      ['PERMISSION_DENIED', { ...sign(statementOf(approval)), statement: statementOf(approval, { decision: 'deny' }) }],
      ['PERMISSION_DENIED', sign(statementOf(approval, { approver_id: 'agent' as never }))],
      ['NOT_FOUND', sign(statementOf(approval, { tenant_id: 'globex' }), 'foreign', 'alice-key')],
    ];
    for (const [code, signed] of cases) expect([code, await refusal(submit(signed))]).toEqual([code, code]);
    expect(await alice.approval(id)).toMatchObject({ state: 'pending', approved_by: [] });
  });

  it('must match the approval in every member that identifies it', async () => {
    const { id } = await escalated();
    const approval = await alice.approval(id);
    const row = await getApproval(test.kernel.context.reader, { tenant: 'acme' as TenantId, id });
    if (row === null) throw new Error('it is not stored');
    const changes = {
      approval_id: 'other',
      tenant_id: 'globex',
      intent_hash: 'other',
      judged_hash: 'other',
      policy_hash: 'other',
    };
    expect(() => requireSameSubject(row, sign(statementOf(approval)))).not.toThrow();
    for (const [member, value] of Object.entries(changes)) {
      const signed = sign(statementOf(approval, { [member]: value }), 'alice');
      expect(() => requireSameSubject(row, signed)).toThrow('does not match this approval');
    }
  });

  it('cannot be replayed once the vote has changed the approval', async () => {
    const { id } = await escalated();
    const signed = sign(statementOf(await alice.approval(id)));
    await submit(signed);
    expect(await refusal(submit(signed))).toBe('PRECONDITION_FAILED');
  });
});
