import { expect } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { evaluate } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { both, useOperated } from './_operated.ts';

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
// An unconfirmed policy is soon stale. The policy file confirms it.
const on = useOperated(open, { ofKernels: { GOV_POLICY_MAX_AGE: '6s' } });

/**
 * The states in which the kernels have no policy that allows a call. `code` is the denial for a caller without a stop.
 */
const states = {
  denies: { code: 'POLICY_DENIED', enter: async () => on.site.writePolicy(closed) },
  stale: { code: 'POLICY_STALE', enter: async () => on.site.writePolicy(nothing) },
  missing: {
    code: 'POLICY_MISSING',
    enter: async () => {
      on.site.writePolicy(nothing);
      await on.site.inKernels('CREATE TABLE kept_heads AS SELECT * FROM policy_heads; DELETE FROM policy_heads');
    },
  },
};

/**
 * Kernels reject a policy head with an epoch other than the last one that they saw. The deleted heads are therefore
 * restored first.
 */
async function allowAgain(name: string): Promise<void> {
  if (name === 'missing')
    await on.site.inKernels('INSERT INTO policy_heads SELECT * FROM kept_heads; DROP TABLE kept_heads');
  on.site.writePolicy(open);
}

type Desk = Awaited<ReturnType<typeof openDesk>>;

/** An owner with their own workspace, and the owner's actions there. */
async function openDesk() {
  const owner = await on.newPerson();
  const { workspaceId, client } = owner;
  const operator = on.site.agents(workspaceId, 'operator')[0];
  const { key, id } = (await client.createApiKey({ body: { name: 'crawler' } as never })).body; // the schema adds defaults
  const headers = () => ({ authorization: `Bearer ${key}` });
  const keyed = createClient({ evaluate }, { baseUrl: on.site.gateway.url, headers });
  await operator.putIdentity({
    params: { directory: 'agents', principal: 'erin' },
    body: { display_name: 'Erin' },
  } as never); // unbranded names
  const saidBy = (principal: string, tool = 'crm.read') => on.reasonsBy({ workspaceId }, principal, { tool });
  const stop = (kind: string, target: string, more: object = {}) =>
    on.operate(owner, kind, { target, reason: 'the vault leaks', ...more });
  const isKeyTaken = () =>
    on.decisionBy(keyed).then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ status: 401 });
        return false;
      },
    );
  return { workspaceId, client, operator, keyId: id, saidBy, stop, isKeyTaken };
}

async function stopAll({ workspaceId, client, operator, keyId, stop }: Desk): Promise<void> {
  for (const values of [
    await stop('freeze', 'agent:carol'),
    await stop('throttle', 'agent:dave', { limit: 0 }),
    await stop('quarantine', 'tool:crm.list'),
  ])
    expect([values.status, values.body['state']]).toEqual([200, 'effective']);
  await client.putWorkspaceSettings({
    params: { id: workspaceId },
    body: { policyConfig: { blockedTools: ['mail.send', 'notes.read_note'] } },
  } as never); // as above
  await client.applyWorkspaceSettings({ params: { id: workspaceId } });
  await client.revokeApiKey({ params: { id: keyId } });
  await operator.revokeIdentity({ params: { directory: 'agents', principal: 'erin' } } as never); // as above
}

/** Facts that are checked before the policy deny at once. */
async function expectStopped({ saidBy, isKeyTaken, operator }: Desk): Promise<void> {
  expect(await saidBy('carol')).toEqual(both('SYSTEM_FROZEN'));
  expect(await saidBy('dave')).toEqual(both('THROTTLED'));
  expect(await saidBy('bob', 'crm.list')).toEqual(both('TOOL_QUARANTINED'));
  expect(await isKeyTaken()).toBe(false);
  await untilAnswered(async () => {
    const { data } = (await operator.listRegisteredTools({ query: {} })).body;
    return data.find(({ tool }) => tool === 'notes.read_note')?.blocked === true;
  });
  const { data } = (await operator.listAgents({ query: {} })).body;
  expect(data.find(({ principal_id: id }) => id === 'erin')).toMatchObject({ state: 'revoked' });
}

verifies(
  'cp.stops',
  'each stop applies while the policy denies everything, is stale or is missing, and as soon as a policy allows',
  async () => {
    for (const [name, { code, enter }] of Object.entries(states)) {
      const desk = await openDesk();
      const { saidBy } = desk;
      await untilAnswered(async () => (await saidBy('bob')).every((message) => message === 'ALLOWED'));
      expect([await saidBy('carol'), await saidBy('dave'), await saidBy('erin')]).toEqual(
        Array(3).fill(both('ALLOWED')),
      );
      expect([await saidBy('bob', 'crm.list'), await saidBy('bob', 'mail.send')]).toEqual(
        Array(2).fill(both('ALLOWED')),
      );
      expect(await desk.isKeyTaken()).toBe(true);
      await enter();
      await untilAnswered(async () => (await saidBy('bob')).every((message) => message === code));
      await stopAll(desk);
      await expectStopped(desk);
      expect(await saidBy('bob')).toEqual(both(code));

      await allowAgain(name);
      const first = { erin: new Set<string>(), mail: new Set<string>() };
      await untilAnswered(async () => {
        for (const message of await saidBy('erin')) first.erin.add(message);
        for (const message of await saidBy('bob', 'mail.send')) first.mail.add(message);
        return (await saidBy('bob')).every((message) => message === 'ALLOWED');
      });
      await expectStopped(desk);
      expect([await saidBy('erin'), await saidBy('bob', 'mail.send')]).toEqual([
        both('AGENT_REVOKED'),
        both('TOOL_BLOCKED'),
      ]);
      // Restored heads have their old time, so they are stale until the file confirms them.
      const denials = [code, ...(name === 'missing' ? ['POLICY_STALE'] : []), 'AGENT_REVOKED', 'TOOL_BLOCKED'];
      for (const reason of [...first.erin, ...first.mail]) expect(denials).toContain(reason);
    }
  },
);
