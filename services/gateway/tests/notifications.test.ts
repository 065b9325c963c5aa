import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import type { PlatformEventType } from '@countersign/contracts/gateway';
import { incidentMoved, type IncidentState } from '@countersign/contracts/control-plane';
import { deliveryTablesSql, deliveryTermsSql } from '@countersign/delivery';
import type { TestDatabase } from '@countersign/database/testing';
import { describeStory } from '@countersign/testkit/describe-story';
import { SMTPServer } from 'smtp-server';
import { Webhook } from 'standardwebhooks';
import type { StartedGateway } from '../src/index.ts';
import {
  clientOf,
  contentOf,
  putMember,
  rowsOf,
  runReaching,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { messageHandled, publish } from './_key-calls.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let ada: Person;
let hooks: Server;
let hook: string;
let status = 204;
const kernel = new KernelStub();
const got: { headers: IncomingHttpHeaders; body: string }[] = [];
const mails: string[] = [];
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData: (stream, _session, done) => {
    let mail = '';
    stream
      .setEncoding('utf8')
      .on('data', (text: string) => (mail += text))
      .on('end', () => {
        mails.push(mail);
        done();
      });
  },
});
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port; // it listens on TCP

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  hooks = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => {
      got.push({ headers: req.headers, body });
      res.writeHead(status).end();
    });
  });
  await new Promise<void>((listening) => hooks.listen(0, '127.0.0.1', listening));
  await new Promise<void>((listening) => smtp.listen(0, '127.0.0.1', listening));
  hook = `http://127.0.0.1:${portOf(hooks)}/hook`;
  // This gateway has no mail provider, so the answer contains the code.
  const first = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }));
  ada = await signInAs(first.url, 'ada@example.org');
  await first.stop();
  gateway = await startTestGateway(
    testConfig(database, {
      GOV_GOVERNANCE_URL: kernel.url,
      GOV_SMTP_URL: `smtp://127.0.0.1:${portOf(smtp.server)}`,
      GOV_WEBHOOKS_REACH_PRIVATE: '1',
    }),
  );
  ada = { ...ada, client: clientOf(gateway.url, ada.headers) };
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  hooks.close();
  await new Promise<void>((closed) => smtp.close(() => closed()));
  await database?.drop();
});

const params = () => ({ id: ada.workspace.id });

it('the migrations create the tables that the delivery package describes', () => {
  const migration = (name: string) =>
    readFileSync(new URL(`../prisma/migrations/${name}/migration.sql`, import.meta.url), 'utf8');
  expect(migration('20261122221000_notifications')).toContain(deliveryTablesSql.trim());
  expect(migration('20261217100000_emitted_events')).toContain(deliveryTermsSql.trim());
});

describeStory('a subscriber', () => {
  it('is notified of waiting approvals, ended runs, violations and invites, signed and without their content', async () => {
    const eventTypes: PlatformEventType[] = ['approval.requested', 'run.ended', 'violation.recorded', 'invite.created'];
    const body = { channel: 'webhook', target: hook, eventTypes } as const;
    const { body: made, status: code } = await ada.client.createSubscription({ params: params(), body });
    expect([code, made]).toMatchObject([201, { state: 'active', target: hook, createdBy: ada.user.id }]);
    kernel.say = () => ({ calls: [{ name: 'files__write', args: { path: 'secret' } }] });
    kernel.verdictOf = () => 'DENY';
    const denied = await startRun(ada);
    await runReaching(ada, denied.taskId);
    kernel.verdictOf = () => 'ESCALATE';
    const waiting = await startRun(ada);
    await runReaching(ada, waiting.taskId, ['awaiting_approval']);
    await ada.client.createInvite({ params: params(), body: { email: 'bob@example.org', role: 'member' } });
    await until(async () => got.length >= 4);
    const events = got.map(({ body: text, headers }) => {
      new Webhook(made.secret ?? '').verify(text, headers as Record<string, string>); // Node joins repeated headers
      return JSON.parse(text) as { type: string; data: Record<string, unknown> }; // just verified
    });
    expect(events.map(({ type }) => type).toSorted()).toEqual([...eventTypes].toSorted());
    const { workspaceId, runId } = events.find(({ type }) => type === 'run.ended')?.data ?? {};
    expect([workspaceId, runId]).toEqual([ada.workspace.id, denied.runId]);
    expect(got.map(({ body: text }) => text).join('')).not.toMatch(/secret|bob@/);
    const { body: sent } = await ada.client.listNotifications({ params: { ...params(), subscriptionId: made.id } });
    expect(sent.data).toHaveLength(4);
    expect(sent.data[0]).toMatchObject({ state: 'delivered', attempts: 1, nextAttemptAt: null, lastError: null });
    const first = await ada.client.listNotifications({
      params: { ...params(), subscriptionId: made.id },
      query: { limit: 3 },
    });
    const cursor = first.body.nextCursor ?? '';
    const rest = await ada.client.listNotifications({
      params: { ...params(), subscriptionId: made.id },
      query: { cursor },
    });
    expect([...first.body.data, ...rest.body.data]).toEqual(sent.data);
  });

  it('gets a notification again on request, gets a new secret, and gets nothing after the subscription ended', async () => {
    const [subscription] = (await ada.client.listSubscriptions({ params: params() })).body.data;
    const named = { ...params(), subscriptionId: subscription?.id ?? '' };
    const [last] = (await ada.client.listNotifications({ params: named })).body.data;
    const again = { params: { ...named, notificationId: last?.id ?? '' } };
    got.length = 0;
    await ada.client.redriveNotification(again);
    await until(async () => got.length === 1);
    expect(got[0]?.headers['webhook-id']).toBe(last?.id);

    const { secret } = (await ada.client.rotateWebhookSecret({ params: named })).body;
    got.length = 0;
    status = 500;
    await until(() =>
      ada.client.redriveNotification(again).then(
        () => true,
        () => false,
      ),
    );
    await until(async () => got.length === 1);
    new Webhook(secret ?? '').verify(got[0]?.body ?? '', got[0]?.headers as Record<string, string>); // Node joins repeated headers
    await until(async () => {
      const [tried] = (await ada.client.listNotifications({ params: named })).body.data;
      return tried?.lastError === 'status 500';
    });
    await expect(ada.client.redriveNotification(again)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect((await ada.client.listSubscriptions({ params: params() })).body.data[0]).toMatchObject({ state: 'failing' });
    status = 204;
    await rowsOf(
      database,
      `UPDATE notifications SET ended_at = now() - interval '31 days' WHERE state = 'delivered' AND owner = $1`,
      [ada.workspace.id],
    );
    await until(async () => {
      const { data } = (await ada.client.listNotifications({ params: named })).body;
      return data.every(({ state }) => state !== 'delivered');
    });
    await ada.client.endSubscription({ params: named });
    await expect(ada.client.endSubscription({ params: named })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await rowsOf(database, `SELECT id FROM notifications WHERE owner = $1`, [ada.workspace.id])).toEqual([]);
  });

  it('by mail must be a member, and gets nothing after leaving', async () => {
    const eventTypes: PlatformEventType[] = ['invite.created'];
    const mailOf = (target: string) => ({ channel: 'mail' as const, target, eventTypes });
    const stranger = ada.client.createSubscription({ params: params(), body: mailOf('eve@example.org') });
    await expect(stranger).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await rowsOf(
      database,
      `INSERT INTO users (id, email, name, created_at) VALUES ('usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'guest@example.org', 'Guest', now())`,
    );
    await putMember(database, {
      workspaceId: ada.workspace.id,
      userId: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      role: 'member',
    });
    const { body: made } = await ada.client.createSubscription({ params: params(), body: mailOf('guest@example.org') });
    expect(made.secret).toBeNull();
    const invite = () =>
      ada.client.createInvite({ params: params(), body: { email: 'kim@example.org', role: 'member' } });
    await invite();
    const reportOf = () => mails.find((text) => text.includes('An owner invited a person'));
    await until(async () => reportOf() !== undefined);
    const mail = reportOf();
    expect(mail).toContain('To: guest@example.org');
    expect(mail).not.toContain('kim@example.org');
    await ada.client.removeMember({ params: { ...params(), userId: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV' } });
    mails.length = 0;
    await invite();
    await until(async () => {
      const [one] = (await ada.client.listSubscriptions({ params: params() })).body.data;
      return one?.state === 'disabled';
    });
    expect(mails.filter((text) => text.includes('An owner invited a person'))).toEqual([]);
    const { body: log } = await ada.client.listAudit({ query: { action: 'subscription.disabled' } });
    expect(log.data).toMatchObject([{ actor: 'gateway', verdict: 'fail', subject: made.id }]);
  });

  it('is notified when an incident opens and reopens, once each, and not of further sightings', async () => {
    const eventTypes: PlatformEventType[] = ['incident.opened'];
    const body = { channel: 'webhook', target: `${hook}/incidents`, eventTypes } as const;
    const { body: made } = await ada.client.createSubscription({ params: params(), body });
    const of = {
      ...{ workspace_id: ada.workspace.id, incident_id: 'inc_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
      ...{ severity: 'high', category: 'broken_glass', recurrence: 1, by: null },
    } as const;
    const moved = (from: IncidentState | null, to: IncidentState) =>
      gateway.context.newEvent(incidentMoved, { ...of, from, to } as never).event; // checked by the definition of the event
    const opened = moved(null, 'open');
    const events = [opened, opened, moved('open', 'open'), moved('open', 'acked'), moved('resolved', 'open')];
    for (const event of events) {
      await publish(gateway, event);
      await messageHandled(database, event.id);
    }
    const named = { ...params(), subscriptionId: made.id };
    await until(async () => got.filter((sent) => sent.body.includes(of.incident_id)).length === 2);
    expect((await ada.client.listNotifications({ params: named })).body.data).toHaveLength(2);
    const message = got.find((sent) => sent.body.includes(of.incident_id))?.body ?? '';
    const { workspace_id: workspaceId, incident_id: incidentId, severity, category } = of;
    expect(JSON.parse(message)).toMatchObject({
      type: 'incident.opened',
      data: { workspaceId, incidentId, severity, category },
    });
    await ada.client.endSubscription({ params: named });
  });

  it('needs a valid target, and a workspace has a limited number of them', async () => {
    const before = await contentOf(database);
    const refused = [
      { channel: 'webhook', target: 'ftp://example.org', eventTypes: ['run.ended'] },
      { channel: 'webhook', target: 'https://user:pass@example.org', eventTypes: ['run.ended'] },
      { channel: 'webhook', target: 'example.org', eventTypes: ['run.ended'] },
      { channel: 'mail', target: 'nobody', eventTypes: ['run.ended'] },
      { channel: 'pigeon', target: 'https://example.org', eventTypes: ['run.ended'] },
      { channel: 'webhook', target: 'https://example.org', eventTypes: [] },
      { channel: 'webhook', target: 'https://example.org', eventTypes: ['run.began'] },
      { channel: 'webhook', target: 'https://example.org', eventTypes: ['run.ended'], secret: 'mine' },
    ];
    for (const body of refused) {
      const headers = { ...ada.headers, 'content-type': 'application/json' };
      const url = new URL(`/api/workspace/${ada.workspace.id}/notifications`, gateway.url);
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      expect([body, response.status]).toEqual([body, 400]);
    }
    expect(await contentOf(database)).toEqual(before);
    const pending = Array.from({ length: 25 }, (_, nth) => {
      const target = `https://example.org/${nth}`;
      return ada.client.createSubscription({
        params: params(),
        body: { channel: 'webhook', target, eventTypes: ['run.ended'] },
      });
    });
    const answers = await Promise.allSettled(pending);
    const { data } = (await ada.client.listSubscriptions({ params: params() })).body;
    expect(data).toHaveLength(20);
    expect(answers.filter((one) => one.status === 'rejected')).toHaveLength(25 - 20 + 1);
  });
});
