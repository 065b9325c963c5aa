import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as commercial from '@countersign/contracts/commercial-gateway';
import { untilAnswered } from '@countersign/testkit/until';
import type { Published } from './_published.ts';

type Here = { headers: Record<string, string>; orgId: string };
type Body = Record<string, string>;

/** Calls the routes of the basic API that one person alone can use, in the workspace that `headers` name. */
export async function askBasic(door: Published, { headers, orgId }: Here): Promise<void> {
  await door.ask(commercial.getBasicHealth);
  await askAccess(door, { headers, orgId });
  const report = { title: 'A leak', severity: 'high', category: 'conduct', note: 'It was seen' };
  const opened = (await door.ask(commercial.createBasicIncident, { headers, body: report })).body as Body; // validated by the document
  const query = { incident_id: opened['incident_id'] ?? '' };
  const read = await door.ask(commercial.listBasicIncidents, { headers, query });
  await door.ask(commercial.transitionBasicIncident, {
    headers: { ...headers, 'if-match': read.headers.get('etag') ?? '' },
    body: { ...query, to: 'acked', note: 'Mine' },
  });
  const steps = [{ kind: 'freeze', target: 'agent:crawler', reason: 'It was seen where it has no business' }];
  await door.ask(commercial.createBasicBlastRadius, { headers, body: { steps } });
  const plan = (await door.ask(commercial.createBasicPlan, { headers, body: { steps } })).body as Body; // as above
  const body = { plan_id: plan['plan_id'], plan_hash: plan['plan_hash'] };
  await door.ask(commercial.approveBasicPlan, { headers, body });
  await door.ask(commercial.commitBasicPlan, { headers, body });
  for (const route of [commercial.listBasicPlans, commercial.listBasicApprovals, commercial.listBasicEvidence])
    await door.ask(route, { headers });
  for (const route of [commercial.stopRuntime, commercial.startRuntime, commercial.getRuntimeStatus])
    await door.ask(route, { headers });
  await door.ask(commercial.getSpendSummary, { headers });
  await askNotifications(door, headers);
}

async function askNotifications(door: Published, headers: Here['headers']): Promise<void> {
  const receiver = createServer((_req, res) => void res.writeHead(204).end());
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`; // a TCP server has this address type
  const type = 'app.order.paid';
  const body = { channel: 'webhook', target, event_types: [type] };
  await door.ask(commercial.putBasicSubscription, { headers, body });
  await door.ask(commercial.listBasicSubscriptions, { headers });
  await door.ask(commercial.emitBasicEvent, { headers, body: { type, dedupe_key: 'order-2', data: {} } });
  const delivery_id = await untilAnswered(async () => {
    const { data } = (await door.ask(commercial.listBasicDeliveries, { headers })).body as { data: Body[] }; // validated by the document
    const [newest] = data;
    return newest?.['type'] === type && newest['state'] === 'delivered' && newest['delivery_id'];
  });
  await door.ask(commercial.redriveBasicDelivery, { headers, params: { delivery_id } });
  receiver.close();
}

async function askAccess(door: Published, { headers, orgId }: Here): Promise<void> {
  const made = { org_id: orgId, name: 'Payments' };
  const project = (await door.ask(commercial.createProject, { headers, body: made })).body as Body; // validated by the document
  await door.ask(commercial.listProjects, { headers, query: { org_id: orgId } });
  const named = { name: 'Refunds', project_id: project['project_id'] };
  await door.ask(commercial.createBasicWorkspace, { headers, body: named });
  await door.ask(commercial.listBasicWorkspaces, { headers });
  await door.ask(commercial.createEnvironment, { headers, body: { environment: 'prod' } });
  await door.ask(commercial.listEnvironments, { headers });
  await door.ask(commercial.createBasicMember, { headers, body: { email: 'basic-invited@example.org' } });
  await door.ask(commercial.listBasicMembers, { headers });
  const key = (await door.ask(commercial.createBasicKey, { headers, body: { name: 'ci', environment: 'prod' } })).body;
  await door.ask(commercial.listBasicKeys, { headers });
  await door.ask(commercial.revokeBasicKey, { headers, params: { key_id: (key as Body)['key_id'] ?? '' } });
}
