import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Resynced } from '@countersign/contracts/control-plane';
import { removeTopology } from '@countersign/messaging/testing';
import { untilAnswered } from '@countersign/testkit/until';
import { PolicyDesk } from './_policy-desk.ts';
import { startReplicas, type Replicas } from './_replicas.ts';
import { codeOf } from './_tab.ts';

const policy = `
format: countersign/policy.v1
name: resyncs
version: '1'
rules:
  - { id: all, effect: allow }
tools:
  crm.read: { effect_level: E1 }
`;
const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const exchange = `countersign-test-${randomUUID()}`;
let site: Replicas;
let desk: PolicyDesk;
let people = 0;

beforeAll(async () => {
  // The file has its own replicas, because they use a broker and its tests delete rows of the services.
  site = await startReplicas(policy, { ofAll: { AMQP_URL: amqpUrl, GOV_AMQP_EXCHANGE: exchange } });
});
afterAll(async () => {
  await site?.stop();
  const queues = [
    'governance-kernel.fences',
    'governance-kernel.members',
    'gateway.runs',
    'gateway.approvals',
    'control-plane.hints',
  ];
  await removeTopology(amqpUrl, { exchange, queues: queues.map((queue) => `${exchange}.${queue}`) });
});

const newDesk = async () => (desk = await PolicyDesk.open(site.gateway.url, `resync-${(people += 1)}@example.org`));
const ask = (path: string, body: object, tab = desk.owner.tab) =>
  tab.send(`/api/ops/${path}`, { method: 'POST', headers: { 'x-workspace-id': desk.owner.workspaceId }, body });
const reason = 'restored from a copy';
async function resynced(what: string): Promise<Resynced> {
  const { status, body } = await ask('resync', { what, reason });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body as Resynced;
}
async function saidBy(principal: string): Promise<string[]> {
  const body = { action: 'tool.call', tool: 'crm.read', session_id: `resync-${(people += 1)}` } as never; // unbranded names
  const asking = site.agents(desk.owner.workspaceId, principal).map((agent) => agent.evaluate({ body }));
  return (await Promise.all(asking)).map((report) => report.body.reason_code);
}
const both = (code: string) => [code, code];

it('a resync restores the stops that the kernel lost, with their epochs, and lifts no current stop', async () => {
  await newDesk();
  const { workspaceId } = desk.owner;
  for (const who of ['carol', 'dave', 'erin']) await ask('freeze', { target: `agent:${who}`, reason });
  await untilAnswered(async () => (await ask('resume', { target: 'agent:erin', reason })).status === 200);
  expect(await resynced('fences')).toMatchObject({ state: 'in_sync', checked: 3, found: [], is_whole: true });
  await site.inKernels(`DELETE FROM fences WHERE scope LIKE 'agent:${workspaceId}/%'`);
  // Another caller has stopped dave in the meantime.
  const scope = `agent:${workspaceId}/dave`;
  const later = { kind: 'quarantine', epoch: 9, reason: 'operator', set_by: 'olga' };
  await site.system.putFence({ params: { scope }, body: later } as never); // unbranded names
  await untilAnswered(async () => (await saidBy('carol')).every((message) => message === 'ALLOWED'));
  const again = await resynced('fences');
  expect([again.state, again.found.map(({ ref, state }) => [ref, state])]).toEqual([
    'repaired',
    [
      ['agent:carol', 'repaired'],
      ['agent:erin', 'repaired'],
    ],
  ]);
  expect([await saidBy('carol'), await saidBy('dave'), await saidBy('erin')]).toEqual(
    ['SYSTEM_FROZEN', 'AGENT_QUARANTINED', 'ALLOWED'].map(both),
  );
  expect(await resynced('fences')).toMatchObject({ state: 'in_sync', found: [] });
  site.toKernel.cut();
  expect(codeOf(await ask('resync', { what: 'fences', reason }))).toEqual([503, 'GOVERNANCE_UNAVAILABLE']);
  site.toKernel.restore();
});

it('a resync confirms the policy that the control plane activated, restores it at kernels that lost it, and reports a different epoch', async () => {
  await newDesk();
  expect(await resynced('policy')).toMatchObject({ state: 'in_sync', found: [] });
  const { bundle } = await desk.inForce();
  const { policy_hash } = await desk.draft({ ...bundle, name: 'mine' });
  expect((await desk.activate(policy_hash, await desk.report(policy_hash))).status).toBe(200);
  const { workspaceId } = desk.owner;
  const confirmed = async () =>
    (
      await site.inControlPlane('SELECT confirmed_at, state FROM policy_activations WHERE workspace_id = $1', [
        workspaceId,
      ])
    )[0];
  const before = await confirmed();
  expect(await resynced('policy')).toMatchObject({ state: 'in_sync', found: [] });
  expect(Number((await confirmed())?.['confirmed_at'])).toBeGreaterThan(Number(before?.['confirmed_at']));
  await site.inKernels(`DELETE FROM policy_heads WHERE tenant_id = '${workspaceId}'`);
  await untilAnswered(async () => (await desk.inForce()).policy_hash !== policy_hash);
  expect(await resynced('policy')).toMatchObject({ state: 'repaired', found: [{ ref: policy_hash }] });
  expect(await desk.inForce()).toMatchObject({ policy_hash, epoch: 1 });
  await site.inControlPlane('UPDATE policy_activations SET epoch = 7 WHERE workspace_id = $1', [workspaceId]);
  expect(await resynced('policy')).toMatchObject({ state: 'differs', found: [{ ref: policy_hash }] });
});

it('a resync sends the members again, and queries the server of a connector', async () => {
  await newDesk();
  const { workspaceId, tab } = desk.owner;
  const subject = `user:${String((await tab.send('/api/session')).body['user_id'])}` as never; // unbranded names
  const isKnown = async () =>
    (await site.system.listSubjectRelations({ params: { tenant: workspaceId }, query: { subject } })).body.data;
  await untilAnswered(async () => (await isKnown()).length > 0);
  const deletes = await isKnown();
  expect(await resynced('relations')).toMatchObject({ state: 'in_sync', found: [] });
  // While a recent delivery is pending, there is nothing to repair.
  let looks = 0;
  await untilAnswered(async () => {
    looks += 1;
    await site.system.writeRelationships({ body: { tenant_id: workspaceId, deletes } as never });
    const { state, found } = await resynced('relations');
    if (state === 'repaired') expect(found).toMatchObject([{ ref: workspaceId }]);
    return state === 'repaired';
  });
  expect(await isKnown()).toEqual(deletes);

  expect(await resynced('connector:notes')).toMatchObject({ state: 'in_sync', checked: 6, found: [] });
  site.notes.redefine('pay', { description: 'Pays twice.' });
  const { state, found } = await resynced('connector:notes');
  expect([state, found.map(({ ref }) => ref)]).toEqual(['differs', ['notes.pay']]);
  expect(codeOf(await ask('resync', { what: 'connector:nobody', reason }))).toEqual([404, 'NOT_FOUND']);
  expect(codeOf(await ask('resync', { what: 'everything', reason }))).toEqual([400, 'INVALID_REQUEST']);
  const partner = await desk.colleague('partner@example.org', 'partner');
  expect(codeOf(await ask('resync', { what: 'relations', reason }, partner.tab))).toEqual([403, 'PERMISSION_DENIED']);
  const entries = await tab.send(`/api/audit/entries?workspace_id=${workspaceId}&action=ops.resynced`);
  expect((entries.body['data'] as object[]).length).toBe(3 + looks);
});
