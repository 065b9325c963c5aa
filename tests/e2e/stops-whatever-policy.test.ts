import { afterAll, beforeAll, expect } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { evaluate } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { startReplicas, type Replicas } from './_replicas.ts';
import { personAt } from './_signed-in.ts';
import { until, type KernelClient } from './_system.ts';

const policy = (rules: string) => `
format: countersign/policy.v1
name: whatever
version: '1'
rules:
${rules}
tools:
  crm.read: { effect_level: E1 }
  crm.list: { effect_level: E1 }
  mail.send: { effect_level: E1 }
`;
const open = policy('  - { id: all, effect: allow }');
const closed = policy('  - { id: nothing, effect: deny, reason: closed }');
const nothing = 'This is no policy.';
const timeoutMs = 120_000;
let site: Replicas;

/** What the kernels have in place of a policy, and how each denies whoever nobody has stopped. */
const states = {
  denies: { code: 'POLICY_DENIED', enter: async () => site.writePolicy(closed) },
  stale: { code: 'POLICY_STALE', enter: async () => site.writePolicy(nothing) },
  missing: {
    code: 'POLICY_MISSING',
    enter: async () => {
      site.writePolicy(nothing);
      await site.inKernels('CREATE TABLE kept_heads AS SELECT * FROM policy_heads; DELETE FROM policy_heads');
    },
  },
};

/** Another epoch than that which the kernels have known would not be taken, so what was lost comes back first. */
async function allowAgain(name: string): Promise<void> {
  if (name === 'missing')
    await site.inKernels('INSERT INTO policy_heads SELECT * FROM kept_heads; DROP TABLE kept_heads');
  site.writePolicy(open);
}

beforeAll(async () => {
  // A policy that is not confirmed is soon stale, and the file is what confirms it.
  site = await startReplicas(open, { ofKernels: { GOV_POLICY_MAX_AGE: '6s' } });
}, timeoutMs);
afterAll(() => site?.stop(), timeoutMs);

let sessions = 0;
async function said(agent: Pick<KernelClient, 'evaluate'>, tool: string): Promise<string> {
  const body = { action: 'tool.call', tool, session_id: `whatever-${(sessions += 1)}` } as never; // plain names
  return (await agent.evaluate({ body })).body.reason_code;
}

type Desk = Awaited<ReturnType<typeof openDesk>>;

/** An owner with a workspace of their own, and what they do there. */
async function openDesk(name: string) {
  const email = `${name}@example.org`;
  const owner = await personAt(site.gateway.url, email);
  const { workspaceId, client, tab } = owner;
  const operator = site.agents(workspaceId, 'operator')[0];
  const { key, id } = (await client.createApiKey({ body: { name: 'crawler' } as never })).body; // its defaults are the schema's
  const headers = () => ({ authorization: `Bearer ${key}` });
  const keyed = createClient({ evaluate }, { baseUrl: site.gateway.url, headers });
  await operator.putIdentity({
    params: { directory: 'agents', principal: 'erin' },
    body: { display_name: 'Erin' },
  } as never); // plain names
  const saidBy = (principal: string, tool = 'crm.read') =>
    Promise.all(site.agents(workspaceId, principal).map((agent) => said(agent, tool)));
  const stop = async (kind: string, target: string, more: object = {}) => {
    const body = { target, reason: 'the vault leaks', ...more };
    return tab.send(`/api/ops/${kind}`, { method: 'POST', headers: { 'x-workspace-id': workspaceId }, body });
  };
  const isKeyTaken = () =>
    said(keyed, 'crm.read').then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ status: 401 });
        return false;
      },
    );
  return { workspaceId, client, operator, keyId: id, saidBy, stop, isKeyTaken };
}

async function stopAll({ workspaceId, client, operator, keyId, stop }: Desk): Promise<void> {
  for (const given of [
    await stop('freeze', 'agent:carol'),
    await stop('throttle', 'agent:dave', { limit: 0 }),
    await stop('quarantine', 'tool:crm.list'),
  ])
    expect([given.status, given.body['state']]).toEqual([200, 'effective']);
  await client.putWorkspaceSettings({
    params: { id: workspaceId },
    body: { policyConfig: { blockedTools: ['mail.send', 'notes.read_note'] } },
  } as never); // as above
  await client.applyWorkspaceSettings({ params: { id: workspaceId } });
  await client.revokeApiKey({ params: { id: keyId } });
  await operator.revokeIdentity({ params: { directory: 'agents', principal: 'erin' } } as never); // as above
}

const both = (code: string) => [code, code];

/** Of whatever is judged before the policy, the kernel says it at once. */
async function expectStopped({ saidBy, isKeyTaken, operator }: Desk): Promise<void> {
  expect(await saidBy('carol')).toEqual(both('SYSTEM_FROZEN'));
  expect(await saidBy('dave')).toEqual(both('THROTTLED'));
  expect(await saidBy('bob', 'crm.list')).toEqual(both('TOOL_QUARANTINED'));
  expect(await isKeyTaken()).toBe(false);
  await until(async () => {
    const { data } = (await operator.listRegisteredTools({ query: {} })).body;
    return data.find(({ tool }) => tool === 'notes.read_note')?.blocked === true;
  });
  const { data } = (await operator.listAgents({ query: {} })).body;
  expect(data.find(({ principal_id: id }) => id === 'erin')).toMatchObject({ state: 'revoked' });
}

verifies(
  'cp.stops',
  'each stop holds while the policy denies everything, is stale and is missing, and from the first decision of a policy that allows',
  async () => {
    for (const [name, { code, enter }] of Object.entries(states)) {
      const desk = await openDesk(name);
      const { saidBy } = desk;
      await until(async () => (await saidBy('bob')).every((told) => told === 'ALLOWED'));
      expect([await saidBy('carol'), await saidBy('dave'), await saidBy('erin')]).toEqual(
        Array(3).fill(both('ALLOWED')),
      );
      expect([await saidBy('bob', 'crm.list'), await saidBy('bob', 'mail.send')]).toEqual(
        Array(2).fill(both('ALLOWED')),
      );
      expect(await desk.isKeyTaken()).toBe(true);
      await enter();
      await until(async () => (await saidBy('bob')).every((told) => told === code));
      await stopAll(desk);
      await expectStopped(desk);
      expect(await saidBy('bob')).toEqual(both(code));

      await allowAgain(name);
      const first = { erin: new Set<string>(), mail: new Set<string>() };
      await until(async () => {
        for (const told of await saidBy('erin')) first.erin.add(told);
        for (const told of await saidBy('bob', 'mail.send')) first.mail.add(told);
        return (await saidBy('bob')).every((told) => told === 'ALLOWED');
      });
      await expectStopped(desk);
      expect([await saidBy('erin'), await saidBy('bob', 'mail.send')]).toEqual([
        both('AGENT_REVOKED'),
        both('POLICY_DENIED'),
      ]);
      for (const told of [...first.erin, ...first.mail])
        expect([code, 'AGENT_REVOKED', 'POLICY_DENIED']).toContain(told);
    }
  },
  timeoutMs,
);
