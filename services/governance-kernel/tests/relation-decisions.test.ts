import { createKernelClient } from '@countersign/contracts/routes';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compilePolicy, evaluateRules, parsePolicyBundle, restoreIntent } from '@countersign/policy';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { createBoundary } from '../src/decision/boundary.ts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import type { RelationSource } from '../src/controls/relations/relation-source.ts';
import { asAdministrator } from './_administrator.ts';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { adminKey, startTestKernel, type KernelClient, type TestKernel } from './_kernel.ts';
import { change } from './_relations.ts';

const bundle = `
format: countersign/policy.v1
name: relations
version: '1'
relations:
  viewer: { object: 'document:{args.id}', relation: viewer, subject: 'agent:{principal}' }
  banned: { object: 'tenant:{tenant}', relation: banned, subject: 'agent:{principal}' }
  staff: { object: 'group:staff', relation: member, subject: 'agent:{principal}', required: { tool: [staff.*] } }
rules:
  - { id: views, effect: allow, match: { tool: [documents.*] }, when: relations.viewer }
  - { id: banned, effect: deny, match: { tool: [documents.*] }, when: relations.banned }
  - { id: staff, effect: allow, match: { tool: [staff.*] } }
  - { id: pays, effect: escalate, match: { tool: [pay.*] }, when: relations.viewer }
  - { id: spawns, effect: allow, match: { action: [agent.spawn] }, when: relations.viewer }
  - { id: free, effect: allow, match: { tool: [free.*] } }
tools:
  documents.read: { effect_level: E1 }
  staff.read: { effect_level: E1 }
  free.read: { effect_level: E1 }
`;

const time = movableClock('2026-11-21T10:00:00.000Z');
const hour = 3_600_000;
let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock }, env: { GOV_RELATIONS_MAX_AGE: '1h' } });
  await test.activate('*', bundle);
  second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

let tenants = 0;
const newTenant = () => `judged-${(tenants += 1)}`;
const view = { tool: 'documents.read', effect_level: 'E1', args: { id: '42' } };
const views = 'document:42#viewer@agent:agent';
const decided = async (tenant: string, call: object = view) => answerOf(await new Caller(test, tenant).decide(call));
const write = (tenant: string, ...writes: string[]) => change(test, tenant, { writes });

async function decidedAt(client: KernelClient, call: object = view): Promise<string> {
  const body = { action: 'tool.call', session_id: newSession(), ...call } as never; // unbranded strings
  return answerOf((await client.evaluate({ body })).body);
}

const atBoth = (tenant: string) =>
  [test.kernel.url, second.url].map((baseUrl) =>
    createKernelClient({ baseUrl, apiKey: adminKey }).as({ tenant, principal: 'agent' }),
  );

describe('a decision', () => {
  it('reads relations through groups, using the principal and arguments of the call', async () => {
    const tenant = newTenant();
    await write(tenant, 'document:42#viewer@group:eng#member', 'group:eng#member@agent:agent');
    expect(await decided(tenant)).toBe('ALLOW ALLOWED');
    expect(await decided(tenant, { ...view, args: { id: '43' } })).toBe('DENY NO_MATCHING_RULE');
    await write(tenant, `tenant:${tenant}#banned@agent:agent`);
    expect(await decided(tenant)).toBe('DENY POLICY_DENIED');
    expect(answerOf(await new Caller(test, tenant, 'other').decide(view))).toBe('DENY NO_MATCHING_RULE');
  });

  it('is a denial when the call has no valid argument for a relation that a rule reads', async () => {
    const tenant = newTenant();
    await write(tenant, views, 'document:42#viewer@group:eng#member');
    for (const args of [{}, { id: null }, { id: '42#viewer' }, { id: ['42'] }])
      expect(await decided(tenant, { ...view, args })).toBe('DENY POLICY_EVALUATION_ERROR');
  });

  it('needs the relation that a tool requires', async () => {
    const tenant = newTenant();
    await write(tenant, views);
    const call = { tool: 'staff.read', effect_level: 'E1' };
    expect(await decided(tenant, call)).toBe('DENY RELATION_MISSING');
    for (const tool of ['staff__erase', 'Staff.erase', 'st\u200baff.erase'])
      expect(await decided(tenant, { tool })).toBe('DENY MALFORMED_ARGUMENTS');
    await write(tenant, 'group:staff#member@agent:agent');
    expect(await decided(tenant, call)).toBe('ALLOW ALLOWED');
  });

  verifies('kn.fc.snapshot', 'is a denial when relations are stale or were never written', async () => {
    const tenant = newTenant();
    expect(await decided(tenant)).toBe('DENY AUTHZ_SNAPSHOT_STALE');
    await write(tenant, views);
    expect(await decided(tenant)).toBe('ALLOW ALLOWED');
    time.advance(hour);
    expect(await decided(tenant)).toBe('ALLOW ALLOWED');
    time.advance(1);
    expect(await decided(tenant)).toBe('DENY AUTHZ_SNAPSHOT_STALE');
    expect(await decided(tenant, { tool: 'free.read', effect_level: 'E1' })).toBe('ALLOW ALLOWED');
    await change(test, tenant, {});
    expect(await decided(tenant)).toBe('ALLOW ALLOWED');
    const future = `UPDATE relation_heads SET confirmed_at = confirmed_at + interval '2 minutes' WHERE tenant_id = $1`;
    await asAdministrator(test, future, [tenant]);
    expect(await decided(tenant)).toBe('DENY AUTHZ_SNAPSHOT_STALE');
  });

  it('records its relation snapshot and the relations that it read, which is enough to replay it', async () => {
    const tenant = newTenant();
    const { snapshot_hash } = await write(tenant, views);
    const calls = [view, { ...view, args: { id: '43' } }, { tool: 'free.read', effect_level: 'E1' }];
    const policy = compilePolicy(parsePolicyBundle(bundle), nodeProvider);
    for (const call of calls) {
      const session_id = newSession();
      const { verdict } = await new Caller(test, tenant).decide({ ...call, session_id });
      const [sealed] = await ledgerOf(test, session_id);
      if (!sealed?.record) throw new Error('it has a record');
      const restored = restoreIntent(sealed.record);
      if (restored.kind !== 'restored') throw new Error('nothing is missing');
      const again = evaluateRules(policy, restored.intent, restored.environment);
      expect(again.kind).toBe(verdict.toLowerCase());
      const asksForRelations = call.tool === 'documents.read';
      expect(sealed.record.authz_snapshot_hash).toBe(asksForRelations ? snapshot_hash : null);
      const read = { 'relations.viewer': 'args' in call && call.args.id === '42', 'relations.banned': false };
      if (asksForRelations) expect(sealed.record.intent.facts).toMatchObject(read);
      else expect(sealed.record.intent.facts).not.toHaveProperty(['relations.viewer']);
    }
  });

  it('does not use an approval while a relation that the rule requires is deleted', async () => {
    const tenant = newTenant();
    await write(tenant, views);
    const [agent, approver] = [new Caller(test, tenant), new Caller(test, tenant, 'approver')];
    const pay = { tool: 'pay.out', effect_level: 'E3', args: { id: '42' }, session_id: newSession() };
    await approver.move('approve', send(await agent.decide(pay)));
    await change(test, tenant, { deletes: [views] });
    expect(answerOf(await agent.decide(pay))).toBe('DENY NO_MATCHING_RULE');
    await write(tenant, views);
    expect(answerOf(await agent.decide(pay))).toBe('ALLOW ALLOWED');
  });

  it('uses an approval that was requested beforehand', async () => {
    const tenant = newTenant();
    await write(tenant, views);
    const session_id = newSession();
    const question = { action: 'tool.call', tool: 'pay.out', args: { id: '42' }, session_id, reason: 'soon' } as never; // the rest has defaults
    const { approval_id } = (await test.as(tenant, 'agent').createApproval({ body: question })).body;
    await new Caller(test, tenant, 'approver').move('approve', approval_id);
    const pay = { tool: 'pay.out', args: { id: '42' }, session_id };
    expect(answerOf(await new Caller(test, tenant).decide(pay))).toBe('ALLOW ALLOWED');
  });
});

describe('a shadow draft', () => {
  it('reads only the relations that the decision read, and has no result when it needs others', async () => {
    const tenant = newTenant();
    await write(tenant, views);
    const lane = async (of: string, when: string, alias: object) => {
      const rules = [{ id: 'r', effect: 'allow', when }];
      const draft = { format: 'countersign/policy.v1', name: of, version: '1', rules, relations: { alias } };
      const body = { bundle: parsePolicyBundle(draft), set_by: 'olga' as never };
      await test.system.putShadowLane({ params: { tenant, lane: of }, body });
    };
    const viewer = { object: 'document:{args.id}', relation: 'viewer', subject: 'agent:{principal}' };
    await lane('same', 'relations.alias', viewer);
    await lane('another', 'relations.alias', { ...viewer, relation: 'owner' });
    const shadows = async (call: object) => {
      const session_id = newSession();
      await new Caller(test, tenant).decide({ ...call, session_id });
      const [sealed] = await ledgerOf(test, session_id);
      return sealed?.record?.shadow.map(({ lane: of, verdict, fault }) => `${of} ${verdict ?? fault}`).sort();
    };
    await shadows(view);
    expect(await shadows(view)).toEqual(['another not_ready', 'same ALLOW']);
    const free = { tool: 'free.read', effect_level: 'E1', args: { id: '42' } };
    expect(await shadows(free)).toEqual(['another not_ready', 'same not_ready']);
  });
});

describe('the calls of an answer', () => {
  it('are sealed in order, even if relations load slowly', async () => {
    const tenant = newTenant();
    await write(tenant, views);
    const { cycle, relations } = test.kernel.context;
    const slow: RelationSource = {
      snapshot: async (of, needed) => {
        await nextTurn(); // the other calls could be submitted in this turn
        return await relations.snapshot(of, needed);
      },
      reload: (of) => relations.reload(of),
    };
    const { caller, session, context } = spawnedAgent({ tenant, session: newSession() });
    const called = (tool: string) => {
      const executed = { mode: 'enforce', dispatchedBy: 'caller' } as const;
      return { kind: 'tool' as const, tool, resource: null, args: { id: '42' }, caller, session, context, ...executed };
    };
    const decide = createBoundary({ ...cycle, relations: slow }).forOneAnswer();
    await decide([called('free.read'), called('documents.read'), called('free.read')]);
    const tools = (await ledgerOf(test, session)).map(({ payload }) => payload.tool);
    expect(tools).toEqual(['free.read', 'documents.read', 'free.read']);
  });
});

describe('a change of relations', () => {
  it('that deletes a tuple applies at every kernel once it has returned', async () => {
    const tenant = newTenant();
    const clients = atBoth(tenant);
    for (let round = 0; round < 5; round += 1) {
      await write(tenant, views);
      for (const client of clients) expect(await decidedAt(client)).toBe('ALLOW ALLOWED');
      let isGone = false;
      const late: string[] = [];
      const asking = clients.map(async (client) => {
        for (let call = 0; call < 5; call += 1) {
          const beganAfter = isGone;
          const verdict = await decidedAt(client);
          if (beganAfter) late.push(verdict);
        }
      });
      await change(test, tenant, { deletes: [views] });
      isGone = true;
      await Promise.all(asking);
      late.push(...(await Promise.all(clients.map((client) => decidedAt(client)))));
      expect(new Set(late)).toEqual(new Set(['DENY NO_MATCHING_RULE']));
    }
  });

  it('that deletes a tuple stops a call that read the tuple before the commit', async () => {
    const tenant = newTenant();
    await write(tenant, views);
    const { cycle, relations } = test.kernel.context;
    let reads = 0;
    const overtaken: RelationSource = {
      snapshot: async (of, needed) => {
        const stored = await relations.snapshot(of, needed);
        if ((reads += 1) === 1) await change(test, tenant, { deletes: [views] });
        return stored;
      },
      reload: (of) => relations.reload(of),
    };
    const boundary = createBoundary({ ...cycle, relations: overtaken });
    const call = spawnedAgent({ tenant, session: newSession(), args: { id: '42' } });
    expect(answerOf((await decideAndDie(boundary, call)).reply)).toBe('DENY NO_MATCHING_RULE');
    expect(reads).toBe(2);
  });

  it('during each attempt to decide a call leaves the call undecided', async () => {
    const tenant = newTenant();
    await write(tenant, views);
    const { cycle, relations } = test.kernel.context;
    let writes = 0;
    const restless: RelationSource = {
      snapshot: async (of, needed) => {
        const stored = await relations.snapshot(of, needed);
        await write(tenant, `document:${(writes += 1)}#viewer@agent:other`);
        return stored;
      },
      reload: (of) => relations.reload(of),
    };
    const boundary = createBoundary({ ...cycle, relations: restless });
    const session = newSession();
    const call = spawnedAgent({ tenant, session, args: { id: '42' } });
    expect(await refusal(decideAndDie(boundary, call))).toBe('RECEIPT_STORE_UNAVAILABLE');
    expect(await ledgerOf(test, session)).toEqual([]);
  });
});

describe('cached relations', () => {
  it('are read for a decision without a query of the tuples', async () => {
    const tenant = newTenant();
    await write(tenant, views);
    await decided(tenant);
    const { relations } = test.kernel.context;
    const asks = { object: 'document:42', relation: 'viewer', subject: 'agent:agent' };
    const banned = { object: `tenant:${tenant}`, relation: 'banned', subject: 'agent:agent' };
    const questions = new Map(Object.entries({ viewer: asks, banned }));
    const needed = { questions, required: [] };
    await asAdministrator(test, 'ALTER TABLE relation_tuples RENAME TO gone');
    const stored = await relations.snapshot(tenant, needed);
    await asAdministrator(test, 'ALTER TABLE gone RENAME TO relation_tuples');
    expect(stored).toMatchObject({ kind: 'read', relations: { viewer: true, banned: false } });
  });
});
