import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { StartedSystem } from '@countersign/local';
import { reaching, untilAnswered } from '@countersign/testkit/until';
import { access, actsOf } from './_provisioned-access.ts';
import { inactive, newOrg, scimClient } from './_scim-client.ts';
import { joined, personAt } from './_signed-in.ts';
import { kernelClient, scratchDataDir, startIn } from './_system.ts';

const dataDir = scratchDataDir();
let system: StartedSystem;

beforeAll(async () => {
  // The file has its own system, because the test kills it.
  system = await startIn(dataDir.path, { GOV_RATE_LIMITS: '0' }, { durable: true });
});
afterAll(async () => {
  await system?.stop();
  dataDir.remove();
});

it('access that SCIM has ended is removed exactly once, even when every service is killed right after the answer of SCIM', async () => {
  const domain = 'crash.example';
  const founder = await personAt(system.gatewayUrl, `founder@${domain}`);
  const partner = await joined(founder, await personAt(system.gatewayUrl, 'partner@outside.example'), 'partner');
  const site = { gatewayUrl: system.gatewayUrl, dataDir: dataDir.path };
  const roleMappings = [{ group: 'Engineers', role: 'member' as const }];
  const { bearer } = await newOrg(site, founder, { name: 'Crash', domain, roleMappings });
  const scim = scimClient(system.gatewayUrl, bearer);
  const email = `ada@${domain}`;
  const made = await scim.users.provision({ userName: email, active: true });
  const id = String(made.data['id']);
  expect((await scim.groups.provision({ displayName: 'Engineers', members: [{ value: id }] })).status).toBe(201);
  const params = { id: founder.workspaceId };
  const isMember = async (client = founder.client) =>
    (await client.getWorkspace({ params })).body.members.some((member) => member.email === email);
  await untilAnswered(() => isMember());
  const ada = await access(system, { email, workspaceId: founder.workspaceId, approver: partner });
  expect((await scim.users.patch({ id, ...inactive })).data).toMatchObject({ active: false });
  await system.kill();
  system = await startIn(dataDir.path, { GOV_RATE_LIMITS: '0' }, { durable: true });

  const moved = { ...ada, gatewayUrl: system.gatewayUrl };
  await reaching(
    () => actsOf(moved),
    (ways) => Object.values(ways).every((isOpen) => !isOpen),
  );
  const kernel = kernelClient(system, founder.workspaceId);
  const stateNow = async () =>
    (await kernel.listApprovals({ query: { approval_id: ada.approvalId } })).body.data[0]?.state; // branded by the schema
  await reaching(stateNow, (state) => state === 'revoked');
  const again = await personAt(system.gatewayUrl, founder.email);
  await untilAnswered(async () => !(await isMember(again.client)));
  const entries = (await again.client.listAudit({ headers: { 'x-workspace-id': founder.workspaceId } })).body.data;
  const removals = entries.filter(({ action }) => action === 'member.removed');
  expect(removals).toHaveLength(1);
});
