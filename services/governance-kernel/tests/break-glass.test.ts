import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type ApprovalId } from '@countersign/contracts';
import type { BoundaryRecord, ExportedReceipt } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { recordHash } from '@countersign/receipts';
import { Browser } from '@countersign/testkit/browser';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport, verifyRecord } from '@countersign/verifier';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { deliverSettings, TestGateway, userCalled, workspaceCalled } from './_assertions.ts';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { kernelRoutes, startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, kernelAt, origin } from './_passkeys.ts';

const policy = `
format: countersign/policy.v1
name: glass
version: '1'
rules:
  - { id: two, effect: escalate, match: { tool: [two.*] }, approval: { quorum: 2 } }
  - { id: later, effect: escalate, match: { tool: [later.*] }, approval: { quorum: 2, timelock: 600, timeout: 3600 } }
  - { id: named, effect: escalate, match: { tool: [named.*] }, approval: { quorum: 2, approvers: [ann, bob] } }
  - { id: one, effect: escalate, match: { tool: [one.*] } }
  - { id: never, effect: deny, match: { tool: [never.*] } }
`;

const minuteMs = 60_000;
const time = movableClock('2026-11-22T10:00:00.000Z');
const gateway = new TestGateway(time.clock);
/** A tenant without passkeys, a tenant with passkeys, and one that never enabled break glass. */
const [plain, keyed, off] = [workspaceCalled('PANE'), workspaceCalled('KEYS'), workspaceCalled('SHUT')];
let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  const env = { GOV_PUBLIC_URL: origin, GOV_ASSERTION_KEYS: gateway.publicKey };
  test = await startTestKernel({ env, overrides: { clock: time.clock } });
  second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
  await test.activate('*', policy);
  await deliverSettings(test, plain, keyed, off, workspaceCalled('SOON'));
  const body = { version: 1, signatures_only: false, break_glass: true };
  for (const tenant of [plain, keyed]) await test.system.putApprovalTerms({ params: { tenant }, body });
  await new Approver(test, 'alice', keyed).enrol();
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

async function escalated(tenant: string, tool: string) {
  const call = { tool, session_id: newSession() };
  return { call, id: send(await new Caller(test, tenant).decide(call)) };
}

/** Signs a person in at the page of an approval, with an approver key. */
async function atPage(tenant: string, id: ApprovalId, principal = 'ann') {
  const body = { kind: 'approver', principal_id: principal } as never; // the kernel fills in the defaults
  const { key } = (await test.as(tenant, 'operator').createAccessKey({ body })).body;
  const browser = new Browser(second.url);
  const page = await browser.submit((await browser.open(`/approvals/${id}`)).form('sign-in'), { key });
  return { browser, page, open: () => browser.open(`/approvals/${id}`) };
}

async function breaksAtPage(tenant: string, id: ApprovalId, { by = 'ann', reason = 'the plant is on fire' } = {}) {
  const { browser, page } = await atPage(tenant, id, by);
  // Sends a displayed form with this decision, which the kernel must check even if the page does not offer it.
  return browser.submit(page.form('apr_'), { decision: 'break_glass', reason });
}

const eventsOf = async (id: ApprovalId) =>
  (
    await test.pool.query<{ type: string }>('SELECT type FROM outbox WHERE envelope LIKE $1 ORDER BY position', [
      `%${id}%`,
    ])
  ).rows.map(({ type }) => type);
const view = (tenant: string, id: ApprovalId) => new Caller(test, tenant).approval(id);

describe('a person who breaks the glass', () => {
  verifies(
    'kn.approve.quorum',
    'approves a call alone instead of its quorum, once across two kernels, and it stays visible',
    async () => {
      const { call, id } = await escalated(plain, 'two.keys');
      expect((await atPage(plain, id)).page.text).toContain('Break the glass You approve this call alone');
      const after = await breaksAtPage(plain, id);
      expect(after.text).toContain('ann broke the glass');
      const glass = { by: 'ann', reason: 'the plant is on fire', at: time.clock().toISOString() };
      const values = { state: 'approved', approved_by: [], scope: 'once', uses_remaining: 1, break_glass: glass };
      const expires_at = new Date(time.clock().getTime() + 15 * minuteMs).toISOString();
      expect(await view(plain, id)).toMatchObject({ ...values, expires_at });
      const [here, there] = [new Caller(test, plain), new Caller(kernelAt(second.url) as never, plain)];
      const repeats = Array.from({ length: 20 }, (_, nth) =>
        (nth % 2 === 0 ? here : there).decide({ ...call, approval_grant: id }),
      );
      const verdicts = (await Promise.all(repeats)).map(answerOf).sort();
      expect(verdicts).toEqual(['ALLOW ALLOWED', ...Array<string>(19).fill('DENY APPROVAL_CONSUMED')]);
      expect(await view(plain, id)).toMatchObject({ state: 'consumed', break_glass: glass });
      const sealed = (await ledgerOf(test, call.session_id)).find(({ payload }) => payload.kind === 'break_glass');
      expect(sealed?.payload).toMatchObject({ action: 'approval.break_glass', principal_id: 'ann', approval_id: id });
      expect(sealed?.record?.intent.facts).toMatchObject({ credential: 'access_key', reason: glass.reason });
      expect(await eventsOf(id)).toEqual([
        'kernel.approval.requested.v1',
        'kernel.approval.glass-broken.v1',
        'kernel.approval.resolved.v1',
      ]);
      const { body } = await test
        .as(plain)
        .listReceipts({ query: { kind: 'break_glass', session_id: call.session_id } });
      expect(body.data.map(({ payload }) => payload.approval_id)).toEqual([id]);
      expect((await (await atPage(plain, id, 'zoe')).open()).text).toContain(glass.reason);
    },
  );

  it('stays recorded when the row is written again', async () => {
    const { id } = await escalated(plain, 'two.keys');
    await breaksAtPage(plain, id);
    const whole = { broken_by: null, broken_reason: null, broken_at: null };
    const again = 'SELECT put_approvals(jsonb_agg(to_jsonb(a) || $2::jsonb)) FROM approvals a WHERE approval_id = $1';
    await test.pool.query(again, [id, JSON.stringify(whole)]);
    expect(await view(plain, id)).toMatchObject({ break_glass: { by: 'ann', reason: 'the plant is on fire' } });
  });

  it('with a key permits no call once a passkey is enrolled, but with a passkey still does', async () => {
    const tenant = workspaceCalled('SOON');
    const body = { version: 1, signatures_only: false, break_glass: true };
    await test.system.putApprovalTerms({ params: { tenant }, body });
    const { call, id } = await escalated(tenant, 'two.keys');
    expect((await breaksAtPage(tenant, id)).text).toContain('ann broke the glass');
    const alice = new Approver(test, 'alice', tenant);
    await alice.enrol();
    const anew = await new Caller(test, tenant).decide({ ...call, approval_grant: id });
    expect(answerOf(anew)).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(answerOf(await new Caller(test, tenant).decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(await view(tenant, id)).toMatchObject({ break_glass: { by: 'ann' }, uses_remaining: 1 });
    await alice.decide(send(anew), 'break_glass', 'a fire');
    expect(answerOf(await new Caller(test, tenant).decide(call))).toBe('ALLOW ALLOWED');
  });

  it('ends the time lock, allows the call for 15 minutes, and may have voted before', async () => {
    const { call, id } = await escalated(plain, 'later.open');
    await new Caller(test, plain, 'ann').move('approve', id);
    await new Caller(test, plain, 'bob').decideOnPage(id);
    expect(answerOf(await new Caller(test, plain).decide(call))).toBe('DENY APPROVAL_TIMELOCKED');
    expect((await breaksAtPage(plain, id)).text).toContain('approved');
    expect(await view(plain, id)).toMatchObject({ approved_by: ['ann', 'bob'], timelock_until: null });
    expect((await breaksAtPage(plain, id, { by: 'bob' })).status).toBe(409);
    time.advance(15 * minuteMs);
    expect(answerOf(await new Caller(test, plain).decide({ ...call, approval_grant: id }))).toBe(
      'DENY APPROVAL_EXPIRED',
    );
    const another = await escalated(plain, 'later.open');
    await breaksAtPage(plain, another.id);
    expect(answerOf(await new Caller(test, plain).decide(another.call))).toBe('ALLOW ALLOWED');
  });

  it('can be an owner asserted by the gateway, but no partner', async () => {
    const { id } = await escalated(plain, 'two.keys');
    const { ceremony_hash } = await view(plain, id);
    const speaker = { tenant: plain, principal: userCalled('ERNA') };
    const headers = async (role: 'owner' | 'partner') => {
      const assertion = await gateway.assert({ ...speaker, role });
      return { authorization: `Bearer ${assertion}` };
    };
    const spokenFor = (role: 'owner' | 'partner') =>
      createClient(kernelRoutes, { baseUrl: test.kernel.url, headers: () => headers(role) });
    const vote = (role: 'owner' | 'partner') =>
      spokenFor(role).transitionApproval({
        params: { approval_id: id, action: 'break_glass' },
        body: { expected_ceremony_hash: ceremony_hash, reason: 'a fire' },
      });
    expect(await refusal(vote('partner'))).toBe('PERMISSION_DENIED');
    expect((await vote('owner')).body.break_glass).toMatchObject({ by: userCalled('ERNA'), reason: 'a fire' });
  });
});

describe('break glass is refused', () => {
  it('when the tenant has not enabled it, has disabled it, or the credential proves no person', async () => {
    const { id } = await escalated(off, 'two.keys');
    const { page } = await atPage(off, id);
    expect(page.text).not.toContain('Break the glass');
    expect((await breaksAtPage(off, id)).text).toContain('Breaking the glass is off in this tenant');
    const claimed = new Caller(test, plain, 'ann');
    const mine = await escalated(plain, 'two.keys');
    expect(await refusal(claimed.move('break_glass', mine.id, 'a fire'))).toBe('PERMISSION_DENIED');
    const terms = { signatures_only: false, break_glass: false };
    await test.system.putApprovalTerms({ params: { tenant: plain }, body: { ...terms, version: 2 } });
    expect((await breaksAtPage(plain, mine.id)).status).toBe(403);
    expect(await view(plain, mine.id)).toMatchObject({ state: 'pending', break_glass: null });
    await test.system.putApprovalTerms({
      params: { tenant: plain },
      body: { ...terms, version: 3, break_glass: true },
    });
  });

  it('without a reason, for the requester, for unlisted people, or when nothing delays the call', async () => {
    const { id } = await escalated(plain, 'two.keys');
    expect((await breaksAtPage(plain, id, { reason: ' ' })).status).toBe(400);
    const agents = await atPage(plain, id, 'AGENT');
    expect(agents.page.text).not.toContain('Break the glass');
    expect(await breaksAtPage(plain, (await escalated(plain, 'named.x')).id, { by: 'zoe' }).catch(String)).toContain(
      'There is no form',
    );
    const { page } = await atPage(plain, (await escalated(plain, 'one.call')).id);
    expect(page.text).not.toContain('Break the glass');
    const one = await escalated(plain, 'one.call');
    expect((await breaksAtPage(plain, one.id)).text).toContain('Break glass applies only to calls');
    expect(await view(plain, id)).toMatchObject({ state: 'pending', break_glass: null });
  });

  verifies('kn.gates', 'for a call that a fence or a rule denies: the call stays denied', async () => {
    const { call, id } = await escalated(plain, 'two.keys');
    await breaksAtPage(plain, id);
    await test.setFence(`tenant:${plain}`, 'freeze');
    expect(answerOf(await new Caller(test, plain).decide({ ...call, approval_grant: id }))).toBe('DENY SYSTEM_FROZEN');
    await test.setFence(`tenant:${plain}`, 'open');
    const denied = { tool: 'never.ever', session_id: newSession(), action: 'tool.call', reason: 'please', quorum: 2 };
    const { approval_id } = (await test.as(plain, 'agent').createApproval({ body: denied as never })).body; // plain strings
    await breaksAtPage(plain, approval_id);
    const { tool, session_id } = denied;
    const reply = await new Caller(test, plain).decide({ tool, session_id, approval_grant: approval_id });
    expect(answerOf(reply)).toBe('DENY POLICY_DENIED');
    expect(await view(plain, approval_id)).toMatchObject({ state: 'approved', uses_remaining: 1 });
  });

  it('for a call whose rule names approvers, by an approval for any approver: the call stays escalated', async () => {
    const asking = { tool: 'named.x', session_id: newSession(), action: 'tool.call', reason: 'please', quorum: 2 };
    const { approval_id } = (await test.as(plain, 'agent').createApproval({ body: asking as never })).body; // plain strings
    await breaksAtPage(plain, approval_id, { by: 'zoe' });
    const { tool, session_id } = asking;
    const reply = await new Caller(test, plain).decide({ tool, session_id, approval_grant: approval_id });
    expect(answerOf(reply)).toBe('ESCALATE APPROVAL_REQUIRED');
  });

  it('when a vote completes the quorum at the same time: only one of the two succeeds', async () => {
    const { id } = await escalated(plain, 'two.keys');
    await new Caller(test, plain, 'ann').decideOnPage(id);
    const { browser, page } = await atPage(plain, id, 'cem');
    const { ceremony_hash } = await view(plain, id);
    const params = { approval_id: id, action: 'approve' as const };
    const [vote, glass] = await Promise.allSettled([
      test.as(plain, 'bob').transitionApproval({ params, body: { expected_ceremony_hash: ceremony_hash } }),
      browser.submit(page.form('apr_'), { decision: 'break_glass', reason: 'a fire' }),
    ]);
    const { break_glass, approved_by } = await view(plain, id);
    const won = vote.status === 'fulfilled' ? [null, ['ann', 'bob']] : ['cem', ['ann']];
    expect([break_glass?.by ?? null, approved_by]).toEqual(won);
    expect(glass.status === 'fulfilled' && glass.value.status).toBe(vote.status === 'fulfilled' ? 412 : 200);
  });
});

describeStory('break glass in a tenant with passkeys', () => {
  const alice = () => new Approver(test, 'alice', keyed);
  let signer: Approver;
  let lines: ExportedReceipt[];
  let glass: ExportedReceipt;

  verifies('kn.approve.webauthn', 'requires a passkey that signs the reason, and accepts no key', async () => {
    signer = alice();
    await signer.enrol();
    await test.system.acceptPasskey({
      params: { tenant: keyed, credential_id: signer.id },
      body: { reason: 'for a test', accepted_by: 'operator' },
    });
    const { call, id } = await escalated(keyed, 'two.keys');
    expect(await refusal(new Caller(test, keyed, 'ann').move('break_glass', id, 'a fire'))).toBe('PASSKEY_REQUIRED');
    expect((await atPage(keyed, id)).page.text).not.toContain('Break the glass');
    expect(await refusal(signer.challenge(id, 'break_glass'))).toBe('INVALID_REQUEST');
    const { statement } = await signer.challenge(id, 'break_glass', 'a fire');
    expect(statement).toMatchObject({ decision: 'break_glass', reason: 'a fire' });
    expect(await signer.decide(id, 'break_glass', 'a fire')).toMatchObject({ state: 'approved', approved_by: [] });
    expect(answerOf(await new Caller(test, keyed).decide(call))).toBe('ALLOW ALLOWED');
    const { body } = await test.as(keyed).exportReceipts({ query: { session_id: call.session_id } });
    lines = body as ExportedReceipt[]; // the first line is the header
    const found = lines.find(({ record }) => record?.kind === 'break_glass');
    if (found === undefined) throw new Error('nothing is of that kind');
    glass = found;
  });

  verifies('kn.approve.webauthn', 'verifies offline, and the report counts it', async () => {
    const trust = parseKeySet((await test.as(keyed).listTrustKeys()).body);
    const report = verifyExport(
      lines.map((line) => JSON.stringify(line)),
      { trust, provider: nodeProvider },
    );
    expect(report).toMatchObject({ verdict: 'VERIFIED', fault: null });
    expect(report.broken_glass).toEqual({ count: 1, first: glass.receipt.payload.receipt_id });
  });

  /**
   * Changes the record and corrects its hash, as a lying kernel would. Returns the verdict on it, or the error code.
   */
  function judged(change: (record: BoundaryRecord) => void): string {
    const lying = structuredClone(glass.record) as BoundaryRecord;
    change(lying);
    lying.record_hash = recordHash(nodeProvider, lying);
    const { payload, signature } = glass.receipt;
    const { kind, approval_id, record_hash } = lying;
    const report = { ...payload, kind, record_hash, ...(approval_id === null ? {} : { approval_id }) };
    if (approval_id === null) delete report.approval_id;
    try {
      verifyRecord(lying, { payload: report, signature }, nodeProvider);
      return 'VERIFIED';
    } catch (error) {
      return (error as { code: string }).code;
    }
  }
  const facts = ({ intent }: BoundaryRecord) => intent.facts as Record<string, never> & { statement: object };

  it.each<[string, string, (record: BoundaryRecord) => void]>([
    ['without changes', 'VERIFIED', () => undefined],
    ['with another reason', 'ASSERTION_MISMATCH', (record) => Object.assign(facts(record), { reason: 'a whim' })],
    ['without a reason', 'MALFORMED', (record) => Reflect.deleteProperty(facts(record), 'reason')],
    ['with a blank reason', 'MALFORMED', (record) => Object.assign(facts(record), { reason: ' ' })],
    ['in the form of an ordinary vote', 'MALFORMED', (record) => Object.assign(record, { kind: 'approval' })],
    ['without an approval', 'MALFORMED', (record) => Object.assign(record, { approval_id: null })],
    [
      'with a statement that approves',
      'ASSERTION_MISMATCH',
      (record) => Object.assign(facts(record).statement, { decision: 'approve' }),
    ],
    ['with an operator key', 'MALFORMED', (record) => Object.assign(facts(record), { credential: 'operator_bearer' })],
  ])('sealed %s is judged by the verifier as %s', (_what, code, change) => {
    expect(judged(change)).toBe(code);
  });
});
