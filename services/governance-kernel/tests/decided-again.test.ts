import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import {
  compilePolicy,
  decideAgain,
  decideAsRecorded,
  parsePolicyBundle,
  type CompiledPolicy,
} from '@countersign/policy';
import { send, Caller, ledgerOf, newSession, answerOf, type Call } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
let tenants = 0;
beforeAll(async () => {
  test = await startTestKernel();
});
afterAll(() => test.close());

const compiled = (bundle: object): CompiledPolicy => compilePolicy(parsePolicyBundle(bundle), nodeProvider);
const newTenant = () => `again-${(tenants += 1)}`;

const tool = fc.constantFrom('files.read', 'files.write', 'pay.send', 'FILES.read', 'web.get');
const when = fc.constantFrom(
  'has(args.amount) && args.amount > 100.0',
  'args.amount > 100.0',
  'has(context.channel) && context.channel == "web"',
  'size(args) > 1',
  'has(args.to.country)',
  'principal == "agent"',
  'now > timestamp("2020-01-01T00:00:00Z")',
  'relations.reader',
);
const rule = fc
  .record(
    {
      effect: fc.constantFrom('allow', 'allow', 'deny', 'escalate'),
      match: fc.record(
        {
          action: fc.constantFrom(['tool.call'], ['data.egress'], ['*']),
          tool: fc.constantFrom(['files.*'], ['pay.send'], ['*']),
          effect_level: fc.constantFrom(['E0', 'E1'], ['E2', 'E3', 'E4']),
        },
        { requiredKeys: [] },
      ),
      when,
      quorum: fc.constantFrom(1, 2),
    },
    { requiredKeys: ['effect', 'match'] },
  )
  .map(({ quorum, ...body }) =>
    body.effect === 'escalate' && quorum !== undefined ? { ...body, approval: { quorum } } : body,
  );
const declared = fc.dictionary(
  tool,
  fc.record(
    {
      effect_level: fc.constantFrom('E1', 'E3'),
      identity: fc.constant(['proven']),
      sandbox: fc.constant(true),
      dispatched_by: fc.constant('kernel'),
    },
    { requiredKeys: ['effect_level'] },
  ),
  { maxKeys: 2 },
);
const reader = { object: 'document:{args.id}', relation: 'viewer', subject: 'agent:{principal}' };
const bundle = fc
  .record(
    {
      rules: fc.array(rule, { minLength: 1, maxLength: 6 }),
      tools: declared,
      egress: fc.constantFrom([], ['*.example.org'], ['example.net']),
      identity: fc.constant(['proven']),
    },
    { requiredKeys: ['rules'] },
  )
  .map(({ rules, ...rest }) => ({
    ...{ format: 'countersign/policy.v1', name: 'random', version: '1', relations: { reader } },
    rules: rules.map((body, index) => ({ id: `r${index}`, ...body })),
    ...rest,
  }));
const call = fc.record(
  {
    action: fc.constantFrom('tool.call', 'tool.call', 'data.egress', 'agent.spawn'),
    tool,
    resource: fc.constantFrom('https://a.example.org/x', 'example.net', 'nowhere at all'),
    args: fc.constantFrom(
      {},
      { amount: 5 },
      { amount: 500, to: { country: 'CH' } },
      { amount: 'many' },
      { to: null, id: '7' },
    ),
    context: fc.constantFrom({}, { channel: 'web' }),
    effect_level: fc.constantFrom('E0', 'E2', 'E4'),
  },
  { requiredKeys: ['action', 'args'] },
) as fc.Arbitrary<Call>;

async function sealedUnder(tenant: string, { action, ...rest }: Call): Promise<BoundaryRecord> {
  const session_id = newSession();
  await new Caller(test, tenant).decide({ action, ...rest, session_id });
  const [sealed] = await ledgerOf(test, session_id);
  if (!sealed?.record) throw new Error('a decision has a record');
  return sealed.record;
}

const verdictOf = ({ verdict, reason_code }: Pick<BoundaryRecord, 'verdict' | 'reason_code'>) =>
  `${verdict} ${reason_code}`;

describe('a decision replayed from its record', () => {
  it('equals the decision on the same call once the draft is active', async () => {
    const report = { decided: 0, unreplayable: 0 };
    await fc.assert(
      fc.asyncProperty(bundle, bundle, fc.array(call, { minLength: 3, maxLength: 6 }), async (before, after, calls) => {
        const tenant = newTenant();
        const [recorded, draft] = [compiled(before), compiled(after)];
        await test.activate(tenant, JSON.stringify(before), 1);
        const sealed: BoundaryRecord[] = [];
        for (const one of calls) sealed.push(await sealedUnder(tenant, one));
        await test.activate(tenant, JSON.stringify(after), 2);
        for (const [nth, record] of sealed.entries()) {
          const again = decideAgain(record, { draft, recorded, ceilings: [] });
          const same = decideAsRecorded(record, recorded);
          if (same.kind === 'decided') expect(verdictOf(same)).toBe(verdictOf(record));
          report[again.kind === 'decided' ? 'decided' : 'unreplayable'] += 1;
          if (again.kind === 'UNREPLAYABLE') expect(again.missing).not.toEqual([]);
          else expect(verdictOf(again)).toBe(verdictOf(await sealedUnder(tenant, calls[nth] ?? {})));
        }
      }),
      { numRuns: 40 },
    );
    // Most calls must be replayable.
    expect(report.decided).toBeGreaterThan(report.unreplayable);
  });

  it('reports a fact above the size limit as missing', async () => {
    const before = {
      ...{ format: 'countersign/policy.v1', name: 'n', version: '1' },
      rules: [{ id: 'a', effect: 'allow', when: 'has(args.text)' }],
    };
    const tenant = newTenant();
    await test.activate(tenant, JSON.stringify(before));
    const record = await sealedUnder(tenant, {
      action: 'tool.call',
      tool: 'x.y',
      args: { text: 'long '.repeat(2000) },
    });
    const recorded = compiled(before);
    expect(decideAgain(record, { draft: recorded, recorded, ceilings: [] })).toEqual({
      kind: 'UNREPLAYABLE',
      missing: ['args.text'],
    });
  });

  it('reuses an approval if the draft requires the same approval, and otherwise reports it as missing', async () => {
    const asking = (quorum: number, name = 'n') => ({
      ...{ format: 'countersign/policy.v1', name, version: '1' },
      rules: [{ id: 'a', effect: 'escalate', approval: { quorum } }],
    });
    const tenant = newTenant();
    await test.activate(tenant, JSON.stringify(asking(1)));
    const session_id = newSession();
    const [agent, alice] = [new Caller(test, tenant), new Caller(test, tenant, 'alice')];
    const question = { tool: 'pay.send', session_id };
    await alice.move('approve', send(await agent.decide(question)));
    expect(answerOf(await agent.decide(question))).toBe('ALLOW ALLOWED');
    const [first, used] = (await ledgerOf(test, session_id)).flatMap(({ record }) =>
      record?.kind === 'decision' ? [record] : [],
    );
    if (first === undefined || used === undefined) throw new Error('it was decided twice');
    const recorded = compiled(asking(1));
    const under = (record: BoundaryRecord, draft: object) =>
      decideAgain(record, { draft: compiled(draft), recorded, ceilings: [] });
    expect(under(used, asking(1, 'renamed'))).toMatchObject({ verdict: 'ALLOW' });
    expect(under(used, asking(2))).toEqual({ kind: 'UNREPLAYABLE', missing: ['approval'] });
    expect(under(first, asking(2))).toMatchObject({ verdict: 'ESCALATE' });
  });

  it('is a denial if the draft lacks a ceiling or a fence stopped the call', async () => {
    const open = { format: 'countersign/policy.v1', name: 'n', version: '1', rules: [{ id: 'a', effect: 'allow' }] };
    const tenant = newTenant();
    await test.activate(tenant, JSON.stringify(open));
    const recorded = compiled(open);
    const record = await sealedUnder(tenant, { action: 'tool.call', tool: 'x.y' });
    const ceilings = ['{"effect":"deny","id":"ceiling.x","match":{}}'];
    expect(decideAgain(record, { draft: recorded, recorded, ceilings })).toMatchObject({
      reason_code: 'CEILING_MISSING',
    });
    await test.setFence(`tenant:${tenant}`, 'freeze');
    const frozen = await sealedUnder(tenant, { action: 'tool.call', tool: 'x.y' });
    expect(decideAgain(frozen, { draft: recorded, recorded, ceilings: [] })).toMatchObject({
      reason_code: 'SYSTEM_FROZEN',
    });
  });
});
