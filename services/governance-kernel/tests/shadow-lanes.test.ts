import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import { parsePolicyBundle } from '@countersign/policy';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { asAdministrator } from './_administrator.ts';
import { Caller, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { adminKey, starterPolicy, startTestKernel, systemOf, type TestKernel } from './_kernel.ts';

const bundle = (rules: string) => `format: countersign/policy.v1\nname: draft\nversion: '1'\nrules:\n${rules}`;
const allowsAll = bundle('  - { id: everything, effect: allow }\n');
const deniesAll = bundle('  - { id: nothing, effect: deny }\n');
const ofJson = (rules: object[]) =>
  JSON.stringify({ format: 'countersign/policy.v1', name: 'draft', version: '1', rules });

let test: TestKernel;
let otherKernel: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel();
  otherKernel = await startKernel(kernelConfigFrom(test.env));
});
afterAll(async () => {
  await otherKernel.stop();
  await test.close();
});

let tenant = 'shadowed-0';
let tenants = 0;
beforeEach(async () => {
  tenant = `shadowed-${(tenants += 1)}`;
  await test.activate(tenant, starterPolicy);
});

const lanePath = (lane: string, of = tenant) => ({ tenant: of, lane }) as never; // branded by the schema
async function setLane(lane: string, draft: string, system = test.system) {
  const body = { bundle: parsePolicyBundle(draft), set_by: 'olga' as never };
  return (await system.putShadowLane({ params: lanePath(lane), body })).body;
}
const endLane = async (lane: string, of = tenant) =>
  (await test.system.deleteShadowLane({ params: lanePath(lane, of) })).body;

const read = { tool: 'files.read' };
type Decided = { verdict: string; record: BoundaryRecord };

async function decide(call: object = read, at: { url: string } = test.kernel, by = tenant): Promise<Decided> {
  const session = newSession();
  const agent = new Caller(at === test.kernel ? test : testAt(at.url), by);
  const reply = await agent.decide({ ...call, session_id: session });
  const [sealed] = await ledgerOf(test, session);
  if (sealed === undefined || sealed.record === null) throw new Error('nothing was sealed');
  return { verdict: answerOf(reply), record: sealed.record };
}
const testAt = (url: string) =>
  ({
    as: (of: string, principal?: string) =>
      createKernelClient({ baseUrl: url, apiKey: adminKey }).as({ tenant: of, ...(principal ? { principal } : {}) }),
  }) as TestKernel;
const shadowOf = ({ record }: Decided) =>
  record.shadow.map(({ lane, verdict, reason_code, fault }) => [lane, fault ?? `${verdict} ${reason_code}`]);

describe('shadow drafts beside the active policy', () => {
  it('record what they would have decided, only in the boundary record', async () => {
    const { policy_hash } = await setLane('open', allowsAll);
    await setLane('closed', deniesAll);
    for (const [call, verdict] of [
      [read, 'ALLOW ALLOWED'],
      [{ tool: 'files.delete' }, 'DENY POLICY_DENIED'],
      [{ tool: 'pay.send' }, 'ESCALATE APPROVAL_REQUIRED'],
    ] as const) {
      const decided = await decide(call);
      expect(decided.verdict).toBe(verdict);
      expect(shadowOf(decided)).toEqual([
        ['closed', 'DENY POLICY_DENIED'],
        ['open', 'ALLOW ALLOWED'],
      ]);
    }
    expect((await decide()).record.shadow[1]).toEqual({
      ...{ lane: 'open', policy_hash, verdict: 'ALLOW', reason_code: 'ALLOWED' },
      ...{ matched_rules: ['everything'], rules_omitted: 0, fault: null },
    });
  });

  verifies('kn.budget', 'consume no budget, open no approval and use no approval', async () => {
    const asking = bundle('  - { id: ask, effect: escalate }\n');
    await setLane('asking', asking);
    await setLane('open', allowsAll);
    const terms = { subject: 'tenant', window: 'total', tool_call_limit: 3 } as never; // defaulted by the schema
    await test.as(tenant).putBudget({ params: { budget_id: 'calls' }, body: terms });
    const messages = [];
    for (let nth = 0; nth < 4; nth += 1) messages.push(await decide());
    expect(messages.map((one) => one.verdict)).toEqual([
      ...Array<string>(3).fill('ALLOW ALLOWED'),
      'DENY BUDGET_EXCEEDED',
    ]);
    expect(messages.map((one) => shadowOf(one)[1]?.[1])).toEqual([
      ...Array<string>(3).fill('ALLOW ALLOWED'),
      'DENY BUDGET_EXCEEDED',
    ]);
    expect(shadowOf(messages[0] as Decided)[0]).toEqual(['asking', 'ESCALATE APPROVAL_REQUIRED']);
    expect((await test.as(tenant).listApprovals({ query: {} })).body.data).toEqual([]);
  });

  it('use the facts of the decision, such as fences and ceilings, and their own effect levels', async () => {
    await setLane(
      'declares',
      `${allowsAll.replace('allow }', 'allow, match: { effect_level: [E1] } }')}tools:\n  x.y: { effect_level: E1 }\n`,
    );
    await setLane('ceiled', bundle('  - { id: ceiling.none, effect: deny }\n'));
    expect(shadowOf(await decide({ tool: 'x.y' }))).toEqual([
      ['ceiled', 'DENY CEILING_MISSING'],
      ['declares', 'ALLOW ALLOWED'],
    ]);
    expect(shadowOf(await decide({ tool: 'x.z' }))[1]).toEqual(['declares', 'DENY NO_MATCHING_RULE']);
    await test.setFence(`tenant:${tenant}`, 'freeze');
    expect(shadowOf(await decide({ tool: 'x.y' }))).toEqual([
      ['ceiled', 'DENY SYSTEM_FROZEN'],
      ['declares', 'DENY SYSTEM_FROZEN'],
    ]);
  });

  it('treat an approval of the active policy as their own', async () => {
    await setLane('same', `${starterPolicy}  shadow.only: { effect_level: E1 }\n`);
    const agent = new Caller(test, tenant);
    const call = { tool: 'pay.send', session_id: newSession() };
    const { approval } = await agent.decide(call);
    await new Caller(test, tenant, 'alice').move('approve', approval?.approval_id as never);
    expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
    const sealed = (await ledgerOf(test, call.session_id)).flatMap(({ record }) =>
      record?.kind === 'decision' ? [record] : [],
    );
    expect(sealed.map((record) => record.shadow[0]?.verdict)).toEqual(['ESCALATE', 'ALLOW']);
  });

  verifies('kn.chain', 'are contained in records that verify', async () => {
    await setLane('open', allowsAll);
    const { record } = await decide();
    const { body } = await test.as(tenant).verifyRecord({ params: { record_id: record.record_id } });
    expect(body).toMatchObject({ verified: true });
  });
});

describe('a shadow lane', () => {
  verifies('kn.restart', 'is seen by every kernel at its next commit, and by a kernel that starts', async () => {
    expect(shadowOf(await decide(read, otherKernel))).toEqual([]);
    await setLane('draft', allowsAll);
    expect(shadowOf(await decide(read, otherKernel))).toEqual([['draft', 'ALLOW ALLOWED']]);
    await setLane('draft', deniesAll, systemOf(otherKernel.url));
    expect(shadowOf(await decide())).toEqual([['draft', 'DENY POLICY_DENIED']]);
    await test.restart();
    expect(shadowOf(await decide())).toEqual([['draft', 'DENY POLICY_DENIED']]);
    await endLane('draft');
    for (const kernel of [test.kernel, otherKernel]) expect(shadowOf(await decide(read, kernel))).toEqual([]);
  });

  it('is one of at most three, even when five are set concurrently on two kernels', async () => {
    const set = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e'].map((lane, nth) =>
        setLane(lane, nth % 2 === 0 ? allowsAll : deniesAll, nth < 2 ? test.system : systemOf(otherKernel.url)),
      ),
    );
    const refused = set.flatMap((one) => (one.status === 'rejected' ? [one.reason as { code: string }] : []));
    expect(refused.map(({ code }) => code)).toEqual(Array(2).fill('ILLEGAL_TRANSITION'));
    const decided = await decide();
    expect(decided.record.shadow.map(({ fault }) => fault)).toEqual([null, null, null]);
    const [first] = decided.record.shadow;
    await endLane(first?.lane ?? '');
    await setLane('f', allowsAll);
    expect((await decide()).record.shadow.map(({ fault }) => fault)).toEqual([null, null, null]);
  });

  it('stays unchanged when the same draft is set again, and each change is sealed', async () => {
    const first = await setLane('draft', allowsAll);
    expect(await setLane('draft', allowsAll)).toEqual(first);
    expect(await endLane('draft')).toEqual(first);
    expect(await refusal(endLane('draft'))).toBe('NOT_FOUND');
    const sealed = (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(
      sealed.map(({ payload, record }) => [payload.action, payload.principal_id, record?.intent.facts['draft_hash']]),
    ).toEqual([
      ['policy.change', 'test', undefined],
      ['policy.shadow', 'olga', first.policy_hash],
      ['policy.shadow', 'service', null],
    ]);
  });

  it('rejects a draft that would not be valid as a policy', async () => {
    await expect(setLane('draft', bundle('  - { id: x, effect: allow, when: "args.a >" }\n'))).rejects.toMatchObject({
      ...{ code: 'INVALID_REQUEST', param: 'bundle.rules.0.when' },
    });
    expect(shadowOf(await decide())).toEqual([]);
  });

  verifies('kn.tenants', 'applies only to its own tenant', async () => {
    await setLane('draft', deniesAll);
    await test.activate(`${tenant}-other`, starterPolicy);
    expect(shadowOf(await decide(read, test.kernel, `${tenant}-other`))).toEqual([]);
    expect(await refusal(endLane('draft', `${tenant}-other`))).toBe('NOT_FOUND');
    expect(shadowOf(await decide())).toHaveLength(1);
  });
});

describe('a draft that exceeds a limit', () => {
  const heavy = ofJson(
    Array.from({ length: 1_000 }, (_, nth) => ({
      ...{ id: `r${nth}`, effect: 'deny', match: { action: ['tool.*'] } },
      when: `has(args.list) && args.list.exists(x, x == ${nth})`,
    })),
  );

  it('reports a fault, is suspended after ten decisions, and does not affect decisions or other drafts', async () => {
    await setLane('a-heavy', heavy);
    await setLane('open', allowsAll);
    await expectReady();
    const call = { ...read, args: { list: Array.from({ length: 500 }, (_, nth) => -nth) } };
    const messages = [];
    for (let nth = 0; nth < 12; nth += 1) messages.push(await decide(call));
    expect(new Set(messages.map((one) => one.verdict))).toEqual(new Set(['ALLOW ALLOWED']));
    const faults = messages.map((one) => shadowOf(one));
    expect(faults.map(([first]) => first?.[1])).toEqual([
      ...Array<string>(10).fill('work_exceeded'),
      'suspended',
      'suspended',
    ]);
    expect(new Set(faults.map(([, second]) => second?.[1]))).toEqual(new Set(['ALLOW ALLOWED']));
    await endLane('a-heavy');
    await setLane('a-heavy', heavy);
    await expectReady();
    expect(shadowOf(await decide({ ...read, args: { list: [] } }))[0]).toEqual(['a-heavy', 'DENY NO_MATCHING_RULE']);
  });

  it('records sixteen of its matched rules and the number of the others', async () => {
    await setLane('many', ofJson(Array.from({ length: 1_000 }, (_, nth) => ({ id: `rule-${nth}`, effect: 'allow' }))));
    await expectReady();
    const [statement] = (await decide()).record.shadow;
    expect([statement?.matched_rules.length, statement?.rules_omitted, statement?.matched_rules[15]]).toEqual([
      16,
      984,
      'rule-15',
    ]);
  });

  it('reports not_ready when it is damaged in storage', async () => {
    await setLane('draft', deniesAll);
    await asAdministrator(
      test,
      `UPDATE shadow_lanes SET drafts = jsonb_build_object('draft', '{') WHERE tenant_id = $1`,
      [tenant],
    );
    const decided = await decide();
    expect([decided.verdict, shadowOf(decided)]).toEqual(['ALLOW ALLOWED', [['draft', 'not_ready']]]);
  });

  /** Waits until large drafts are compiled, because the first decisions do not wait for them. */
  async function expectReady(): Promise<void> {
    await until(async () => (await decide()).record.shadow.every(({ fault }) => fault !== 'not_ready'));
  }
});
