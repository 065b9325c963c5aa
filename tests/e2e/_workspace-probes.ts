import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as gateway from '@countersign/contracts/gateway';
import { untilAnswered } from '@countersign/testkit/until';
import type { Ask } from './_ask.ts';

export async function askWorkspace(ask: Ask, id: string): Promise<void> {
  await ask(gateway.getWorkspace, { params: { id } });
  await ask(gateway.putWorkspace, { params: { id }, body: { name: 'Renamed' } });
  await ask(gateway.openWorkspace, { body: {} });
  await ask(gateway.applyWorkspaceSettings, { params: { id } });
  await ask(gateway.getWorkspaceSettings, { params: { id } });
  await ask(gateway.putWorkspaceSettings, { params: { id }, body: { policyConfig: { maxIterationBudget: 9 } } });
  await ask(gateway.putWorkspaceMode, { params: { id }, body: { mode: 'build' } });
}

export async function askTasks(ask: Ask, filesDir: string): Promise<void> {
  const path = join(filesDir, 'letter.md');
  const description = `call:files__write_file ${JSON.stringify({ path, content: 'x' })}`;
  const task = await ask(gateway.createTask, { body: { title: 'Write', description } });
  const params = { id: task['id'] ?? '' };
  await ask(gateway.listTasks);
  await ask(gateway.getTask, { params });
  await ask(gateway.putTask, { params, body: { title: 'Write a letter' } });
  await ask(gateway.runTask, { params });
  const pending = await untilAnswered(async () => {
    const { data } = await ask(gateway.listWorkspaceApprovals, { query: { status: 'pending' } });
    return data[0];
  });
  const { data: runs } = await ask(gateway.listRuns, { params });
  await ask(gateway.getRun, { params: { runId: runs[0]?.['id'] ?? '' } });
  const requests = [{ requestedBy: 'crawler', sessionId: 'probed' }];
  await ask(gateway.checkResolver, { body: { requests } });
  await ask(gateway.getWorkspaceApproval, { params: { id: pending['id'] ?? '' } });
  await ask(gateway.resolveWorkspaceApproval, { params: { id: pending['id'] ?? '' }, body: { status: 'rejected' } });
  const second = await ask(gateway.createTask, { body: { title: 'Wait' } });
  await ask(gateway.putTaskStatus, { params: { id: second['id'] ?? '' }, body: { status: 'queued' } });
  await ask(gateway.startRun, { body: { title: 'Start' } });
  await ask(gateway.listWorkspaceRuns);
  const idle = await ask(gateway.createTask, { body: { title: 'Drop' } });
  await ask(gateway.deleteTask, { params: { id: idle['id'] ?? '' } });
}

export async function askGovernance(ask: Ask): Promise<void> {
  await ask(gateway.listAudit);
  await ask(gateway.exportAudit);
  await ask(gateway.followEvents);
  await ask(gateway.listViolations);
  await ask(gateway.getTask, { params: { id: 'none' } });
  const [failed] = await untilAnswered(async () => {
    const { data } = await ask(gateway.listReports);
    return data.length > 0 && data;
  });
  await ask(gateway.getReport, { params: { requestId: failed?.['requestId'] ?? '' } });
  await ask(gateway.getGovernanceStatus);
  const receipts = await untilAnswered(async () => {
    const page = await ask(gateway.listGovernanceReceipts);
    return page.data.length > 0 && page;
  });
  await ask(gateway.getGovernanceReceipt, { params: { decisionId: receipts.data[0]?.['decisionId'] ?? '' } });
}

export async function askNotifications(ask: Ask, id: string): Promise<void> {
  const receiver = createServer((_req, res) => void res.writeHead(204).end());
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`; // a TCP server has this address type
  const body = { channel: 'webhook', target, eventTypes: ['invite.created'] };
  const subscription = await ask(gateway.createSubscription, { params: { id }, body });
  const params = { id, subscriptionId: subscription['id'] ?? '' };
  await ask(gateway.listSubscriptions, { params: { id } });
  await ask(gateway.createInvite, { params: { id }, body: { email: 'told@example.org', role: 'member' } });
  const delivered = () =>
    untilAnswered(async () => {
      const { data } = await ask(gateway.listNotifications, { params });
      return data[0]?.['state'] === 'delivered' && data[0];
    });
  const { id: notificationId = '' } = await delivered();
  await ask(gateway.redriveNotification, { params: { ...params, notificationId } });
  await delivered();
  await ask(gateway.listDeliveries, { params: { id } });
  await ask(gateway.redriveDelivery, { params: { id, deliveryId: notificationId } });
  await ask(gateway.emitEvent, { params: { id }, body: { type: 'app.order.paid', dedupeKey: 'order-1', data: {} } });
  await ask(gateway.rotateWebhookSecret, { params });
  await ask(gateway.endSubscription, { params });
  receiver.close();
}
