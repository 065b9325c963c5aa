import { createKernelClient } from '@countersign/contracts/routes';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLifecycle } from '@countersign/service-kit';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { Caller, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { adminKey, startTestKernel, systemOf, type TestKernel } from './_kernel.ts';
import { signedBody } from './_policies.ts';

const ceiling = {
  id: 'ceiling.payments',
  effect: 'deny',
  match: { tool: ['pay.*'] },
  when: 'args.amount > 100',
} as const;
const open = `
format: countersign/policy.v1
name: open
version: '1'
rules:
  - { id: all, effect: allow }
`;
const snapshot = `${open}  - { id: ceiling.payments, effect: deny, match: { tool: [pay.*] }, when: args.amount > 100 }\n`;
/** Each bundle differs from `snapshot` in one detail. */
const nearly: Record<string, string> = {
  'another amount': snapshot.replace('> 100', '> 1000'),
  'another spelling of the same condition': snapshot.replace('args.amount > 100', 'args.amount  > 100'),
  'another effect': snapshot.replace('effect: deny', 'effect: allow'),
  'another tool': snapshot.replace('pay.*', 'pay.x'),
  'an additional reason': snapshot.replace('when:', 'reason: none, when:'),
  'another name': snapshot.replace('ceiling.payments', 'ceilings.payments'),
  'an additional ceiling': `${snapshot}  - { id: ceiling.more, effect: deny, match: { tool: [x] } }\n`,
  'no ceiling': open,
};

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
});
afterAll(() => test.close());

let tenant = 'ceiled-0';
let tenants = 0;
beforeEach(() => {
  tenant = `ceiled-${(tenants += 1)}`;
});

type Sent = { rules?: readonly object[]; tag?: number; activation?: object; of?: string; by?: TestKernel['system'] };

async function setCeilings(version: number, { rules = [ceiling], tag, activation, of = tenant, by }: Sent = {}) {
  const headers: Record<string, string> = tag === undefined ? {} : { 'if-match': `"${tag}"` };
  const body = { version, rules, set_by: 'olga', ...(activation === undefined ? {} : { activation }) };
  return await (by ?? test.system).putPolicyCeilings({ params: { tenant: of }, body: body as never, headers });
}
const put = async (bundle: string, epoch: number, of = tenant) =>
  await test.system.putPolicyBundle({
    params: { tenant: of },
    body: signedBody(test.kernel, { tenant: of, bundle, epoch }),
  });
const pay = { action: 'tool.call', tool: 'pay.send', args: { amount: 5 } };
const decided = async (by = tenant, call: object = pay) =>
  answerOf(await new Caller(test, by).decide({ ...call, session_id: newSession() }));

describe('a bundle', () => {
  it.each(Object.entries(nearly))(
    'that contains %s is rejected, and the error names the ceiling',
    async (_what, bundle) => {
      await setCeilings(1);
      await expect(put(bundle, 1)).rejects.toMatchObject({
        ...{ code: 'CEILING_MISSING', status: 400, param: 'bundle.rules' },
        details: { ceiling: bundle.includes('ceiling.more') ? 'ceiling.more' : 'ceiling.payments' },
      });
      expect(await decided()).toBe('DENY POLICY_MISSING');
    },
  );

  it('that contains the exact ceilings is activated, in any order of members, and the ceilings apply', async () => {
    await setCeilings(1);
    await put(snapshot, 1);
    expect(await decided()).toBe('ALLOW ALLOWED');
    expect(await decided(tenant, { ...pay, args: { amount: 101 } })).toBe('DENY POLICY_DENIED');
  });

  it('that uses the ceiling prefix when no ceiling is set is rejected', async () => {
    await expect(put(snapshot, 1)).rejects.toMatchObject({ code: 'CEILING_MISSING' });
  });

  it('cannot be confirmed again when it lacks a ceiling', async () => {
    await put(open, 1);
    await setCeilings(1);
    await expect(put(open, 1)).rejects.toMatchObject({ code: 'CEILING_MISSING' });
  });
});

describe('ceilings', () => {
  verifies('kn.gates', 'disable a bundle that lacks them as soon as they are committed, on every kernel', async () => {
    const second = await startKernel(kernelConfigFrom(test.env));
    try {
      await put(open, 1);
      expect(await decidedAt(second)).toBe('ALLOW ALLOWED');
      await setCeilings(1);
      expect([await decided(), await decidedAt(second)]).toEqual(Array(2).fill('DENY CEILING_MISSING'));
      await setCeilings(2, { tag: 1, rules: [] });
      expect([await decided(), await decidedAt(second)]).toEqual(Array(2).fill('ALLOW ALLOWED'));
    } finally {
      await second.stop();
    }
  });

  verifies('kn.atomic', 'take effect together with a bundle that contains them, or not at all', async () => {
    await put(open, 1);
    const activation = (bundle: string) => signedBody(test.kernel, { tenant, bundle, epoch: 2 });
    await expect(setCeilings(1, { activation: activation(open) })).rejects.toMatchObject({ code: 'CEILING_MISSING' });
    expect(await decided()).toBe('ALLOW ALLOWED');
    await setCeilings(1, { activation: activation(snapshot) });
    expect(await decided()).toBe('ALLOW ALLOWED');
    expect(await decided(tenant, { ...pay, args: { amount: 101 } })).toBe('DENY POLICY_DENIED');
    const sealed = (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.map(({ payload }) => [payload.action, payload.principal_id, payload.kind])).toEqual([
      ['policy.change', 'service', 'policy'],
      ['policy.ceiling', 'olga', 'policy'],
      ['policy.change', 'service', 'policy'],
    ]);
    expect(sealed[1]?.record?.intent.facts).toEqual({
      ...{ version: 1, needs_decision: false, set_by: 'olga' },
      rules: [{ ...ceiling, match: { tool: ['pay.*'] } }],
    });
  });

  verifies('kn.tenants', 'of one tenant do not bind another', async () => {
    await setCeilings(1);
    await put(open, 1, `${tenant}-other`);
    expect(await decided(`${tenant}-other`)).toBe('ALLOW ALLOWED');
    expect(await refusal(test.system.getPolicyCeilings({ params: { tenant: `${tenant}-other` } }))).toBe('NOT_FOUND');
  });

  it('are replaced only by a higher version with If-Match, and are returned with that version', async () => {
    const first = await setCeilings(1);
    expect(first.headers.get('etag')).toBe('"1"');
    expect((await setCeilings(1)).body).toEqual(first.body);
    await expect(setCeilings(2, { rules: [] })).rejects.toMatchObject({ code: 'PRECONDITION_REQUIRED' });
    await expect(setCeilings(2, { rules: [], tag: 7 })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    await expect(setCeilings(1, { rules: [], tag: 1 })).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    await setCeilings(2, { rules: [], tag: 1 });
    await expect(setCeilings(1, { tag: 2 })).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    const { body, headers } = await test.system.getPolicyCeilings({ params: { tenant } });
    expect([body, headers.get('etag')]).toEqual([
      { tenant_id: tenant, version: 2, rules: [], needs_decision: false, set_by: 'olga', updated_at: body.updated_at },
      '"2"',
    ]);
  });

  it.each<[string, object]>([
    ['allows', { ...ceiling, effect: 'allow' }],
    ['has another prefix', { ...ceiling, id: 'payments' }],
    ['does not compile', { ...ceiling, when: 'args.amount >' }],
    ['has an unknown member', { ...ceiling, then: 'x' }],
  ])('reject a rule that %s', async (_what, rule) => {
    await expect(setCeilings(1, { rules: [rule] })).rejects.toMatchObject({ status: 400 });
    await expect(setCeilings(1, { rules: [ceiling, ceiling] })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(test.system.getPolicyCeilings({ params: { tenant } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('kn.restart', 'still apply after a restart', async () => {
    await put(open, 1);
    await setCeilings(1);
    await test.restart();
    expect(await decided()).toBe('DENY CEILING_MISSING');
  });
});

it('an activation and a concurrent change of ceilings on two kernels never leave a bundle without its ceilings in force', async () => {
  const second = await startKernel(kernelConfigFrom(test.env));
  try {
    for (let round = 0; round < 8; round += 1) {
      tenant = `race-${round}`;
      const activation = put(open, 1);
      const ceilings = setCeilings(1, { by: systemOf(second.url) });
      const [activated, set] = await Promise.allSettled([activation, ceilings]);
      expect(set.status).toBe('fulfilled');
      const expected = activated.status === 'fulfilled' ? 'DENY CEILING_MISSING' : 'DENY POLICY_MISSING';
      expect(await decided()).toBe(expected);
    }
  } finally {
    await second.stop();
  }
});

describe('ceilings for all tenants', () => {
  let ofOthers: TestKernel;
  beforeAll(async () => {
    ofOthers = test;
    test = await startTestKernel();
  });
  afterAll(async () => {
    await test.close();
    test = ofOthers;
  });

  it('apply together with those of the tenant, also to the policy file and the demo', async () => {
    await put(open, 1);
    const everybodys = { id: 'ceiling.everybody', effect: 'deny', match: { tool: ['rm.*'] } };
    await setCeilings(1, { of: '*', rules: [everybodys] });
    expect([await decided(), await decided('demo')]).toEqual(Array(2).fill('DENY CEILING_MISSING'));
    await setCeilings(1);
    const both = `${snapshot}  - { id: ceiling.everybody, effect: deny, match: { tool: [rm.*] } }\n`;
    await expect(put(snapshot, 2)).rejects.toMatchObject({ details: { ceiling: 'ceiling.everybody' } });
    await put(both, 2);
    expect(await decided()).toBe('ALLOW ALLOWED');

    const folder = await mkdtemp(join(tmpdir(), 'policy-'));
    const path = join(folder, 'policy.yaml');
    await writeFile(path, open);
    const config = kernelConfigFrom({ ...test.env, GOV_POLICY_FILE: path });
    const lifecycle = createLifecycle(test.kernel.context.log);
    await expect(startKernel(config, { lifecycle })).rejects.toMatchObject({ code: 'CEILING_MISSING' });
    await lifecycle.stop();
    await writeFile(path, both.replace(/.*ceiling.payments.*\n/, ''));
    const kernel = await startKernel(config);
    expect(await decidedAt(kernel, 'without-own')).toBe('ALLOW ALLOWED');
    await kernel.stop();
    await rm(folder, { recursive: true });
  });
});

async function decidedAt({ url }: StartedKernel, by = tenant): Promise<string> {
  const client = createKernelClient({ baseUrl: url, apiKey: adminKey }).as({ tenant: by });
  return answerOf((await client.evaluate({ body: { ...pay, session_id: newSession() } as never })).body);
}
