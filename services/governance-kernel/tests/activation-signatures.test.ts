import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { startTestKernel, systemOf, type TestKernel } from './_kernel.ts';

const current = `
format: countersign/policy.v1
name: standing
version: '1'
rules:
  - { id: changes, effect: allow, match: { action: [policy.change], principal: [olga] } }
  - { id: asks, effect: escalate, match: { action: [policy.change], principal: [peter] } }
`;
const next = parsePolicyBundle(current.replace('name: standing', 'name: next'));
const nextHash = compilePolicy(next, nodeProvider).hash;
const reportHash = `sha256:${'7'.repeat(64)}`;
const otherHash = `sha256:${'8'.repeat(64)}`;
const resource = `policy/${nextHash}?report=${reportHash}`;

const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
});
afterAll(() => test.close());

let tenant = 'signed-0';
let tenants = 0;
beforeEach(async () => {
  tenant = `signed-${(tenants += 1)}`;
  await test.activate(tenant, current);
});

const change = { action: 'policy.change', resource, effect_level: 'E3' } as const;
async function decide(call: object = change, principal = 'olga', of = tenant) {
  return await new Caller(test, of, principal).decide({ ...call, session_id: newSession() });
}
const decisionOf = ({ decision_id }: { decision_id: string }) => ({ decision_id });
type Sent = { decision_id: string; policy_hash?: string; epoch?: number; report_hash?: string };

async function sign(sent: Sent, { of = tenant, by = test.system } = {}) {
  const body = { policy_hash: nextHash, epoch: 2, report_hash: reportHash, ...sent };
  return (await by.createActivationSignature({ params: { tenant: of }, body })).body;
}
type Signed = Awaited<ReturnType<typeof sign>>;
const activate = async ({ epoch, confirmed_at, signature }: Signed, of = tenant) =>
  (
    await test.system.putPolicyBundle({
      params: { tenant: of },
      body: { bundle: next, epoch, confirmed_at, signature },
    })
  ).body;
const marks = async () => {
  const { rows } = await test.pool.query('SELECT 1 FROM activation_signatures WHERE tenant_id = $1', [tenant]);
  return rows.length;
};

describe('an allowed change of a policy', () => {
  verifies('kn.atomic', 'is signed once, sealed, and activates the bundle', async () => {
    const reply = await decide();
    expect(answerOf(reply)).toBe('ALLOW ALLOWED');
    const decided = decisionOf(reply);
    const signed = await sign(decided);
    expect(await activate(signed)).toMatchObject({ policy_hash: nextHash, epoch: 2 });
    expect((await decide()).policy_epoch).toBe(2);
    const sealed = (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.map(({ payload }) => [payload.action, payload.principal_id])).toEqual([
      ['policy.change', 'test'],
      ['policy.sign', 'olga'],
      ['policy.change', 'service'],
    ]);
    const { tenant_id: _, ...output } = signed;
    expect(sealed[1]?.record?.intent.facts).toEqual(output);
  });

  it('gets the same signature for a repeated request, also after its bundle was activated', async () => {
    const decided = decisionOf(await decide());
    const signed = await sign(decided);
    await activate(signed);
    time.advance(3_600_000);
    expect(await sign(decided)).toEqual(signed);
    expect(await marks()).toBe(1);
  });

  it('is signed only for its own epoch, policy and report', async () => {
    const decided = decisionOf(await decide());
    expect(await refusal(sign({ ...decided, policy_hash: otherHash }))).toBe('DECISION_MISMATCH');
    expect(await refusal(sign({ ...decided, report_hash: otherHash }))).toBe('DECISION_MISMATCH');
    for (const epoch of [1, 3, 2_147_483_647])
      expect(await refusal(sign({ ...decided, epoch }))).toBe('ILLEGAL_TRANSITION');
    expect(await marks()).toBe(0);
    await activate(await sign(decided));
    expect(await refusal(sign({ ...decided, epoch: 3 }))).toBe('DECISION_USED');
  });

  verifies('kn.tenants', 'is unknown to other tenants, and its signature activates nothing there', async () => {
    const decided = decisionOf(await decide());
    await test.activate(`${tenant}-other`, current);
    const foreign = await sign(decided, { of: `${tenant}-other` }).catch(String);
    const unknown = await sign({ ...decided, decision_id: 'dec_01J00000000000000000000000' }).catch(String);
    expect(foreign).toBe(unknown);
    expect(await refusal(sign(decided, { of: `${tenant}-other` }))).toBe('NOT_FOUND');
    expect(await refusal(activate(await sign(decided), `${tenant}-other`))).toBe('PERMISSION_DENIED');
  });
});

describe('no signature is issued for', () => {
  it('a change that its author declares as a read, so that a rule about reads allows it', async () => {
    const reads = '  - { id: reads, effect: allow, match: { effect_level: [E0, E1] } }\n';
    const asks = current.replace('effect: allow', 'effect: escalate');
    await test.activate(tenant, `${asks}${reads}`, 2);
    for (const effect_level of ['E0', 'E1']) {
      const reply = await decide({ ...change, effect_level });
      expect([effect_level, answerOf(reply)]).toEqual([effect_level, 'ESCALATE APPROVAL_REQUIRED']);
      expect(await refusal(sign({ ...decisionOf(reply), epoch: 3 }))).toBe('DECISION_REFUSED');
    }
    expect(await marks()).toBe(0);
  });

  it.each<[string, object, string]>([
    ['a denial', change, 'nobody'],
    ['an escalation', change, 'peter'],
    ['a shadow call', { ...change, mode: 'shadow' }, 'olga'],
  ])('%s', async (_what, call, principal) => {
    expect(await refusal(sign(decisionOf(await decide(call, principal))))).toBe('DECISION_REFUSED');
    expect(await marks()).toBe(0);
  });

  it('an ALLOW of a different action or resource', async () => {
    const open = current.replace('action: [policy.change], principal: [olga]', "action: ['*']");
    await test.activate(tenant, open, 2);
    for (const second of [{ action: 'fence.lift' }, { tool: 'policy.change' }])
      expect(await refusal(sign({ ...decisionOf(await decide({ ...change, ...second })), epoch: 3 }))).toBe(
        'DECISION_REFUSED',
      );
    for (const about of [nextHash, `policy/${nextHash}`, `${resource}&x=1`])
      expect(await refusal(sign({ ...decisionOf(await decide({ ...change, resource: about })), epoch: 3 }))).toBe(
        'DECISION_MISMATCH',
      );
  });

  it('a decision older than ten minutes', async () => {
    const [early, late] = [decisionOf(await decide()), decisionOf(await decide())];
    time.advance(600_000);
    await sign(early);
    time.advance(1);
    expect(await refusal(sign(late))).toBe('DECISION_EXPIRED');
  });

  it('a decision under a policy that is no longer active', async () => {
    const decided = decisionOf(await decide());
    await test.activate(tenant, `${current}  - { id: none, effect: deny, match: { action: [x] } }\n`, 2);
    expect(await refusal(sign({ ...decided, epoch: 3 }))).toBe('DECISION_EXPIRED');
  });
});

it('two kernels issue the same signature for simultaneous requests with one decision', async () => {
  const second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
  try {
    const decided = decisionOf(await decide());
    const systems = [test.system, systemOf(second.url)];
    const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => sign(decided, { by: systems[nth % 2] })));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await marks()).toBe(1);
    await activate(answers[0] as Signed);
  } finally {
    await second.stop();
  }
});
