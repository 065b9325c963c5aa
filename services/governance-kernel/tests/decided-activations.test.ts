import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { asAdministrator } from './_administrator.ts';
import { Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { startTestKernel, systemOf, type TestKernel } from './_kernel.ts';
import { signedBody } from './_policies.ts';

const current = `
format: countersign/policy.v1
name: standing
version: '1'
rules:
  - { id: changes, effect: allow, match: { action: [policy.change], principal: [olga] } }
  - { id: reads, effect: allow, match: { action: [tool.call] } }
`;
const nextText = current.replace('name: standing', 'name: next');
const next = parsePolicyBundle(nextText);
const nextHash = compilePolicy(next, nodeProvider).hash;
const reportHash = `sha256:${'7'.repeat(64)}`;

const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
});
afterAll(() => test.close());

let tenant = 'decided-0';
let tenants = 0;
beforeEach(async () => {
  tenant = `decided-${(tenants += 1)}`;
  await test.activate(tenant, current);
});

async function askForDecisions(needs_decision: boolean, { version = 1, of = tenant, ...more } = {}) {
  const headers: Record<string, string> = version === 1 ? {} : { 'if-match': `"${version - 1}"` };
  const body = { version, rules: [], needs_decision, set_by: 'olga', ...more } as never; // plain strings instead of branded ones
  return (await test.system.putPolicyCeilings({ params: { tenant: of }, body, headers })).body;
}

async function decide(of = tenant, hash = nextHash) {
  const change = { action: 'policy.change', resource: `policy/${hash}?report=${reportHash}`, effect_level: 'E3' };
  return (await new Caller(test, of, 'olga').decide({ ...change, session_id: newSession() })).decision_id;
}
async function sign(decision_id: string, { epoch = 2, of = tenant, by = test.system } = {}) {
  const body = { decision_id, policy_hash: nextHash, report_hash: reportHash, epoch };
  return (await by.createActivationSignature({ params: { tenant: of }, body })).body;
}
type Signed = Awaited<ReturnType<typeof sign>>;
const put = async (body: object, of = tenant) =>
  (await test.system.putPolicyBundle({ params: { tenant: of }, body: body as never })).body;
const activate = async ({ epoch, confirmed_at, signature, decision_id }: Signed, sent: object = { decision_id }) =>
  await put({ bundle: next, epoch, confirmed_at, signature, ...sent });
const confirm = async (decision_id: string, by = test.system) =>
  (await by.confirmActivation({ params: { tenant }, body: { decision_id } })).body;
const read = async () =>
  answerOf(await new Caller(test, tenant).decide({ tool: 'crm.read', session_id: newSession() }));
const epochNow = async () =>
  (await new Caller(test, tenant).decide({ tool: 'crm.read', session_id: newSession() })).policy_epoch;

describe('a tenant that requires decisions', () => {
  verifies('kn.gates', 'accepts no bundle without a decision, even with a signature of the policy key', async () => {
    expect(await askForDecisions(true)).toMatchObject({ needs_decision: true });
    const signedAlone = signedBody(test.kernel, { tenant, bundle: nextText, epoch: 2 });
    await expect(put(signedAlone)).rejects.toMatchObject({ code: 'DECISION_REQUIRED', param: 'decision_id' });
    expect(await epochNow()).toBe(1);
  });

  it('accepts the decided bundle only with the statement that was signed for the decision', async () => {
    await askForDecisions(true);
    const decision_id = await decide();
    const second = signedBody(test.kernel, { tenant, bundle: nextText, epoch: 2 });
    time.advance(10);
    const signed = await sign(decision_id);
    expect(await refusal(put({ ...second, decision_id }))).toBe('DECISION_REQUIRED');
    expect(await refusal(activate(signed, {}))).toBe('DECISION_REQUIRED');
    expect(await refusal(activate(signed, { decision_id: await decide() }))).toBe('DECISION_REQUIRED');
    expect(await epochNow()).toBe(1);
    expect(await activate(signed)).toMatchObject({ epoch: 2, policy_hash: nextHash });
    expect(await epochNow()).toBe(2);
    expect(await activate(signed)).toMatchObject({ epoch: 2 });
  });

  it('gets no signature from a revoked policy key, which does not use up the decision', async () => {
    await askForDecisions(true);
    const decision_id = await decide();
    const set = 'UPDATE trust_keys SET revoked_at = $2 WHERE key_id = $1';
    const { keyId } = test.kernel.context.signers.policies;
    await asAdministrator(test, set, [keyId, time.clock()]);
    try {
      await expect(sign(decision_id)).rejects.toMatchObject({
        code: 'RECEIPT_STORE_UNAVAILABLE',
        message: `The key ${keyId} of this kernel for policies is revoked, so nothing is signed, and nothing was executed`,
      });
    } finally {
      await asAdministrator(test, set, [keyId, null]);
    }
    expect(await activate(await sign(decision_id))).toMatchObject({ epoch: 2, policy_hash: nextHash });
  });

  it('accepts a confirmation of its active bundle without a decision', async () => {
    await askForDecisions(true);
    time.advance(1_000);
    expect(await put(signedBody(test.kernel, { tenant, bundle: current, epoch: 1 }))).toMatchObject({ epoch: 1 });
  });

  it('requires a decision for a bundle that comes with the setting, and none after it is turned off', async () => {
    const activation = signedBody(test.kernel, { tenant, bundle: nextText, epoch: 2 });
    expect(await refusal(askForDecisions(true, { activation } as never))).toBe('DECISION_REQUIRED');
    await askForDecisions(true);
    await askForDecisions(false, { version: 2 });
    expect(await put(activation)).toMatchObject({ epoch: 2 });
  });

  it('must have its own bundle and must be a single tenant', async () => {
    expect(await refusal(askForDecisions(true, { of: `${tenant}-without` }))).toBe('ILLEGAL_TRANSITION');
    expect(await refusal(askForDecisions(true, { of: '*' }))).toBe('INVALID_REQUEST');
  });

  it('has its setting sealed, and refuses a change without the current version', async () => {
    await askForDecisions(true);
    const sealed = (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.at(-1)?.payload.action).toBe('policy.ceiling');
    expect(sealed.at(-1)?.record?.intent.facts).toMatchObject({ version: 1, rules: [], needs_decision: true });
    expect(await refusal(askForDecisions(false))).toBe('ILLEGAL_TRANSITION');
  });

  it('requires decisions on every kernel once the setting is committed', async () => {
    const second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
    try {
      const body = signedBody(test.kernel, { tenant, bundle: nextText, epoch: 2 });
      const [setting, activation] = await Promise.allSettled([
        askForDecisions(true),
        systemOf(second.url).putPolicyBundle({ params: { tenant }, body: body }),
      ]);
      expect(setting.status).toBe('fulfilled');
      // The activation may commit before the setting. If it commits after the setting, it is rejected for lack of a
      // decision.
      if (activation.status === 'rejected') expect(activation.reason).toMatchObject({ code: 'DECISION_REQUIRED' });
      const later = signedBody(test.kernel, { tenant, bundle: nextText, epoch: 3 });
      const refused = systemOf(second.url).putPolicyBundle({ params: { tenant }, body: later });
      await expect(refused).rejects.toMatchObject({ code: 'DECISION_REQUIRED' });
    } finally {
      await second.stop();
    }
  });
});

describe('a bundle that was activated with a decision', () => {
  const hour = 3_600_000;
  const active = async () => {
    const decision_id = await decide();
    const signed = await sign(decision_id);
    await activate(signed);
    return { decision_id, signed };
  };

  verifies('kn.fc.policy.stale', 'stays fresh while it is confirmed, and becomes stale otherwise', async () => {
    const { decision_id, signed } = await active();
    for (let hours = 0; hours < 30; hours += 10) {
      time.advance(10 * hour);
      const confirmed = await confirm(decision_id);
      expect(confirmed).toMatchObject({ decision_id, epoch: 2, policy_hash: nextHash });
      expect(confirmed.confirmed_at > signed.confirmed_at).toBe(true);
      expect(await read()).toBe('ALLOW ALLOWED');
    }
    const sealed = (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.filter(({ payload }) => payload.action === 'policy.confirm').length).toBe(3);
    time.advance(25 * hour);
    expect(await read()).toBe('DENY POLICY_STALE');
    await confirm(decision_id);
    expect(await read()).toBe('ALLOW ALLOWED');
  });

  it('is confirmed at most once per minute, even by two kernels', async () => {
    const { decision_id } = await active();
    time.advance(61_000);
    const second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
    try {
      const systems = [test.system, systemOf(second.url)];
      const messages = await Promise.all(Array.from({ length: 8 }, (_, nth) => confirm(decision_id, systems[nth % 2])));
      const sealed = (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === tenant);
      expect(sealed.filter(({ payload }) => payload.action === 'policy.confirm').length).toBe(1);
      expect(new Set(messages.map(({ confirmed_at }) => confirmed_at)).size).toBe(1);
      time.advance(30_000);
      expect(await confirm(decision_id)).toEqual(messages[0]);
    } finally {
      await second.stop();
    }
  });

  it('is not confirmed after another activation, and an unused decision confirms nothing', async () => {
    const { decision_id } = await active();
    expect(await refusal(confirm('dec_01J00000000000000000000000'))).toBe('NOT_FOUND');
    expect(await refusal(confirm(await decide()))).toBe('NOT_FOUND');
    await test.activate(tenant, current, 3);
    expect(await refusal(confirm(decision_id))).toBe('DECISION_MISMATCH');
    // The same bundle, signed without a decision: only its source can confirm it.
    await test.activate(tenant, nextText, 4);
    time.advance(61_000);
    expect(await refusal(confirm(decision_id))).toBe('DECISION_MISMATCH');
    const sealed = (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.filter(({ payload }) => payload.action === 'policy.confirm')).toEqual([]);
  });

  it('is not confirmed while it lacks a ceiling', async () => {
    const { decision_id } = await active();
    const rules = [{ id: 'ceiling.tested', effect: 'deny', match: { tool: ['x.*'] } }];
    await askForDecisions(false, { rules } as never);
    time.advance(61_000);
    expect(await refusal(confirm(decision_id))).toBe('CEILING_MISSING');
  });
});

describe('the signature for a decision', () => {
  verifies(
    'kn.gates',
    'is refused under a fence on the system, organisation, tenant or agent, and not under one elsewhere',
    async () => {
      await test.system.putTenant({ params: { tenant }, body: { version: 1, org_id: `of-${tenant}` } });
      for (const scope of ['system', `org:of-${tenant}`, `tenant:${tenant}`, `agent:${tenant}/olga`]) {
        for (const kind of ['freeze', 'quarantine'] as const) {
          const decision_id = await decide();
          await test.setFence(scope, kind);
          expect([scope, kind, await refusal(sign(decision_id))]).toEqual([scope, kind, 'DECISION_REFUSED']);
          await test.setFence(scope, 'open');
        }
      }
      const decision_id = await decide();
      await test.setFence(`tenant:${tenant}-neighbour`, 'freeze');
      expect(await sign(decision_id)).toMatchObject({ epoch: 2 });
    },
  );

  it('is refused under a fence around the organisation, even by a kernel that has just started', async () => {
    const decision_id = await decide();
    await test.system.putTenant({ params: { tenant }, body: { version: 1, org_id: `of-${tenant}` } });
    await test.setFence(`org:of-${tenant}`, 'freeze');
    const second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
    try {
      expect(await refusal(sign(decision_id, { by: systemOf(second.url) }))).toBe('DECISION_REFUSED');
    } finally {
      await second.stop();
    }
  });

  it('is not returned again under a fence that was set after it', async () => {
    const decision_id = await decide();
    const signed = await sign(decision_id);
    await test.setFence(`tenant:${tenant}`, 'freeze');
    expect(await refusal(sign(decision_id))).toBe('DECISION_REFUSED');
    await test.setFence(`tenant:${tenant}`, 'open');
    expect(await sign(decision_id)).toEqual(signed);
  });

  it.each(['agents', 'operators'] as const)(
    'is refused after its author was revoked in the directory of %s',
    async (directory) => {
      const params = { directory, principal: 'olga' };
      await test.as(tenant).putIdentity({ params, body: { display_name: 'Olga' } });
      const decision_id = await decide();
      await test.as(tenant).revokeIdentity({ params });
      expect(await refusal(sign(decision_id))).toBe('DECISION_REFUSED');
    },
  );
});

it('a large bundle is accepted, and a bundle over the size limit is rejected', async () => {
  const of = (count: number) => ({
    ...{ format: 'countersign/policy.v1', name: 'large', version: '1' },
    rules: Array.from({ length: count }, (_, nth) => ({
      id: `r${nth}`,
      effect: 'allow',
      match: { tool: [`t${nth}`] },
    })),
  });
  const large = JSON.stringify(of(5_000));
  await put(signedBody(test.kernel, { tenant, bundle: large, epoch: 2 }));
  expect(await epochNow()).toBe(2);
  const tools = Array.from({ length: 100_001 }, (_, nth) => `t${nth}`);
  const rules = Array.from({ length: 1_001 }, (_, nth) => ({
    ...{ id: `r${nth}`, effect: 'allow' },
    match: { tool: tools.slice(nth * 99, (nth + 1) * 99) },
  }));
  const larger = parsePolicyBundle({ ...of(0), rules });
  await expect(test.kernel.context.policies.compile(larger)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});
