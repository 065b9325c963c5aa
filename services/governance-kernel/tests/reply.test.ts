import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { PrincipalId, TenantId } from '@countersign/contracts';
import { DecisionReply } from '@countersign/contracts/governance-kernel';
import type { GovernedCall } from '../src/call/governed-call.ts';
import { newSession } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

const noLimits = {
  ...{ spend_limit_minor: null, currency: null, egress_limit_bytes: null, write_limit: null },
  approval_required_above_minor: null,
};

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate(
    '*',
    starterPolicy.replace('Deletion is not for agents.', String.raw`"\"Deletion\" \\ is \u2028 not for agents."`),
  );
  await test.as('acme').putBudget({
    params: { budget_id: 'calls' },
    body: { ...noLimits, subject: 'tenant', window: 'total', tool_call_limit: 100 },
  });
});
afterAll(() => test.close());

const call = (tool: string): GovernedCall => ({
  caller: {
    tenant: 'acme' as TenantId,
    principal: 'agent' as PrincipalId, // match their schemas
    scopes: [],
  },
  session: newSession(),
  kind: 'tool',
  tool,
  resource: null,
  args: {},
  context: {},
  mode: 'enforce',
  dispatchedBy: 'caller',
});

it.each(['files.read', 'files.delete', 'pay.send'])(
  'the reply to a call of %s is the same as an object and as text',
  async (tool) => {
    const decision = await test.kernel.context.boundary.decide(call(tool));
    expect(JSON.parse(decision.json)).toEqual(decision.reply);
    expect(DecisionReply.parse(decision.reply)).toEqual(decision.reply);
  },
);

it('the reply to a shadow decision is marked as shadow and allows nothing, as an object and as text', async () => {
  const { boundary } = test.kernel.context;
  const decision = await boundary.decide({ ...call('files.read'), mode: 'shadow' });
  for (const reply of [decision.reply, JSON.parse(decision.json)])
    expect(reply).toMatchObject({ verdict: 'ALLOW', allow: false, shadow: true });
  const enforced = await boundary.decide(call('files.read'));
  for (const reply of [enforced.reply, JSON.parse(enforced.json)]) {
    expect(reply).toMatchObject({ verdict: 'ALLOW', allow: true });
    expect(reply).not.toHaveProperty('shadow');
  }
});
