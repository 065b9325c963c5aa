import { beforeAll, expect, it } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { getBillingAccount, getUsage } from '@countersign/contracts/commercial-gateway';
import { bootstrapOrg } from '@countersign/contracts/control-plane';
import { untilAnswered } from '@countersign/testkit/until';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { kernelClient, signIn } from './_system.ts';

let system: SharedSystem;

beforeAll(async () => {
  system = await sharedSystem();
});

it("the commercial gateway counts each decision and tool call of an organisation once, from the kernel's receipts", async () => {
  const { token, workspaceId } = await signIn(system, 'metered@example.org');
  const person = createClient(
    { bootstrapOrg, getBillingAccount, getUsage },
    { baseUrl: system.gatewayUrl, headers: () => ({ authorization: `Bearer ${token}` }) },
  );
  const { org_id, workspace_id } = (await person.bootstrapOrg({ body: { name: 'Metered' } })).body;
  expect(workspace_id).toBe(workspaceId);
  const params = { tenant_id: org_id };
  const agent = kernelClient(system, workspaceId, 'agent-1');
  const call = { action: 'tool.call', tool: 'crm.read', session_id: 'metered' };
  const verdicts = [];
  for (const effect_level of ['E1', 'E1', 'E4'] as const)
    verdicts.push((await agent.evaluate({ body: { ...call, effect_level } as never })).body.verdict); // the schema adds defaults
  expect(verdicts).toEqual(['ALLOW', 'ALLOW', 'DENY']);
  const { data } = (await agent.listReceipts({ query: { kind: 'decision', limit: 100 } })).body;
  const allowed = data.filter(({ payload }) => payload.verdict === 'ALLOW' && payload.tool !== null);
  // The organisation arrives by an event. Receipts are read every few seconds.
  const meters = await untilAnswered(async () => {
    const read = await person.getUsage({ params }).catch(() => null);
    const counts = new Map(read?.body.meters.map(({ meter, quantity }) => [meter, quantity]));
    return counts.get('decisions') === String(data.length) && counts;
  });
  expect(meters.get('tool_calls')).toBe(String(allowed.length));
});
