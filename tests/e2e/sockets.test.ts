import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Hint } from '@countersign/contracts/control-plane';
import { removeTopology } from '@countersign/messaging/testing';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { SignInSystem } from './_sign-in-system.ts';
import { Refused, type PageSocket } from './_socket.ts';
import type { Tab } from './_tab.ts';

const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const exchange = `countersign-test-${randomUUID()}`;
let system: SignInSystem;

beforeAll(async () => {
  const bus = { AMQP_URL: amqpUrl, GOV_AMQP_EXCHANGE: exchange };
  system = await SignInSystem.start({ gateway: bus, controlPlane: bus });
  await system.controlPlane.subscribed;
});
afterAll(async () => {
  await system?.stop();
  await removeTopology(amqpUrl, { exchange, queues: [`${exchange}.control-plane.hints`] });
});
beforeEach(() => {
  system.aheadMs = 0;
});

type Here = { tab: Tab; email: string; workspaceId: string };

async function newPerson(): Promise<Here> {
  const { tab, email } = await system.signedIn();
  return { tab, email, workspaceId: await workspaceOf(tab) };
}

async function workspaceOf(tab: Tab): Promise<string> {
  return ((await tab.send('/api/me')).body['workspaces'] as { id: string }[])[0]?.id ?? '';
}

async function opened({ tab, workspaceId }: Here): Promise<PageSocket> {
  const socket = await tab.openSocket('console', { workspaceId });
  await untilAnswered(async () => socket.messages.length > 0);
  return socket;
}

const refusalOf = (opening: Promise<PageSocket>) =>
  opening.then(
    () => 'opened',
    (error: unknown) => (error instanceof Refused ? `${error.status} ${error.code}` : String(error)),
  );
const newOrg = ({ tab }: Here, name = 'Acme') => tab.send('/api/bootstrap', { method: 'POST', body: { name } });
const newDraft = async ({ tab, workspaceId }: Here, version: number) =>
  tab.send(`/api/v1/workspaces/${workspaceId}/policy/draft`, {
    method: 'PUT',
    body: { text: `# ${version}` },
    headers: { 'if-match': `"${version}"` },
  });

describe('a ticket', () => {
  verifies('cp.hints', 'opens one socket, once, within thirty seconds, and only for its own session', async () => {
    const ada = await newPerson();
    const { tab, workspaceId } = ada;
    const ticket = await tab.newTicket(workspaceId);
    const thief = await newPerson();
    const tryBy = (by: Here) => refusalOf(by.tab.openSocket('console', { workspaceId, ticket }));
    expect(await tryBy(thief)).toBe('401 CREDENTIALS_INVALID');
    const socket = await tab.openSocket('console', { workspaceId, ticket });
    expect(socket.protocol).toBe('countersign.console.v1');
    expect(await tryBy(ada)).toBe('401 CREDENTIALS_INVALID');
    const late = await tab.newTicket(workspaceId);
    system.aheadMs += 30_001;
    expect(await refusalOf(tab.openSocket('console', { workspaceId, ticket: late }))).toBe('401 CREDENTIALS_INVALID');
    socket.end();
  });

  it('works for only one of fifty simultaneous uses', async () => {
    const { tab, workspaceId } = await newPerson();
    const ticket = await tab.newTicket(workspaceId);
    const tries = Array.from({ length: 50 }, () => tab.openSocket('console', { workspaceId, ticket }));
    const settled = await Promise.allSettled(tries);
    const sockets = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(sockets).toHaveLength(1);
    sockets[0]?.end();
  });

  it('is issued for the person’s own workspace only, to a page with its CSRF token', async () => {
    const [ada, eve] = [await newPerson(), await newPerson()];
    const ask = (headers: Record<string, string>) => eve.tab.send('/api/session/ticket', { method: 'POST', headers });
    expect((await ask({ 'x-workspace-id': ada.workspaceId })).status).toBe(404);
    expect((await ask({ 'x-workspace-id': eve.workspaceId, 'x-csrf-token': '' })).status).toBe(403);
  });
});

describe('a socket', () => {
  it('opens only for a page of this server, with its cookie and the protocol of its address', async () => {
    const { tab, workspaceId } = await newPerson();
    const open = (headers: Record<string, string>) => refusalOf(tab.openSocket('console', { workspaceId, headers }));
    for (const origin of ['http://evil.example', 'http://localhost:9', 'null', ''])
      expect([origin, await open({ origin })]).toEqual([origin, '403 ORIGIN_NOT_ALLOWED']);
    expect(await open({ cookie: '' })).toBe('401 CREDENTIALS_REQUIRED');
    expect((await tab.send('/ws/console')).status).toBe(426);
    const protocol = 'countersign.telemetry.v1';
    expect(await refusalOf(tab.openSocket('console', { workspaceId, protocol }))).toBe('400 INVALID_REQUEST');
  });

  verifies('cp.hints', 'sends only numbered references, and only about its own workspace', async () => {
    const [ada, eve] = [await newPerson(), await newPerson()];
    const [hers, others] = [await opened(ada), await opened(eve)];
    await newOrg(ada, '<script>secret name</script>');
    await untilAnswered(async () => hers.messages.length > 1);
    await newDraft(ada, 0);
    await untilAnswered(async () => hers.messages.some(({ type }) => type === 'policy'));
    const hints = hers.messages.map((message) => Hint.parse(message));
    const first = hints[0]?.seq ?? 0;
    expect(hints.map(({ seq }) => seq)).toEqual(hints.map((_hint, index) => first + index));
    expect(new Set(hints.map(({ workspace_id }) => workspace_id))).toEqual(new Set([ada.workspaceId]));
    expect(JSON.stringify(hers.messages)).not.toMatch(/secret|Acme|# 0/);
    expect(others.messages.map(({ type }) => type)).toEqual(['ready']);
    hers.end();
    others.end();
  });

  it('sends only numbers on the telemetry address', async () => {
    const ada = await newPerson();
    await newOrg(ada);
    const socket = await ada.tab.openSocket('telemetry', { workspaceId: ada.workspaceId });
    await untilAnswered(async () => socket.messages.length > 1);
    for (const message of socket.messages)
      for (const value of Object.values(message)) expect(typeof value).toBe('number');
    expect(socket.messages.map(({ seq }) => seq).slice(0, 2)).toEqual([1, 2]);
    expect(socket.messages[0]?.['changes_last_minute']).toBeGreaterThan(0);
    socket.end();
  });

  it('ends when it receives a message, and each session may open only a limited number of sockets', async () => {
    const ada = await newPerson();
    const { tab, workspaceId } = ada;
    const spoken = await opened(ada);
    spoken.send('hello');
    expect(await spoken.ended).toBe(1008);
    const loud = await opened(ada);
    loud.send('x'.repeat(2_000));
    expect(await loud.ended).not.toBe(1000);
    const sockets = await Promise.all(Array.from({ length: 16 }, () => tab.openSocket('telemetry', { workspaceId })));
    expect(await refusalOf(tab.openSocket('console', { workspaceId }))).toBe('429 RATE_LIMITED');
    for (const socket of sockets) socket.end();
    await untilAnswered(async () => (await refusalOf(tab.openSocket('console', { workspaceId }))) === 'opened');
  });

  it('ends when the members of the workspace change, and a removed member gets no ticket', async () => {
    const [ada, bob] = [await newPerson(), await newPerson()];
    const path = `/api/workspace/${ada.workspaceId}`;
    const body = { email: bob.email, role: 'member' };
    const { inviteToken } = (await ada.tab.send(`${path}/invite`, { method: 'POST', body })).body;
    await bob.tab.send(`/api/auth/invite/${String(inviteToken)}`, { method: 'POST', body: { email: bob.email } });
    const userId = String((await bob.tab.send('/api/session')).body['user_id']);
    // The ticket is issued before Bob is removed, and the socket is opened afterwards.
    const ticket = await bob.tab.newTicket(ada.workspaceId);
    const remaining = await ada.tab.send(`${path}/members/${userId}`, { method: 'DELETE' });
    expect(remaining.status).toBe(200);
    const socket = await bob.tab.openSocket('console', { ...ada, ticket });
    expect(await socket.ended).toBe(4403);
    const query = { method: 'POST', headers: { 'x-workspace-id': ada.workspaceId } };
    expect((await bob.tab.send('/api/session/ticket', query)).status).toBe(404);
  });
});

describe('a session that ended', () => {
  verifies('cp.session', 'loses its sockets within a second, with a close code that states the reason', async () => {
    const { tab, email, workspaceId } = await newPerson();
    const second = (await system.signedIn(email)).tab;
    const own = String((await second.send('/api/session')).body['session_id']);
    const ends: [Tab, () => Promise<unknown>][] = [
      [second, () => tab.send(`/api/session/credentials/${own}`, { method: 'DELETE' })],
      [tab, () => tab.send('/api/session', { method: 'DELETE' })],
    ];
    for (const [holder, end] of ends) {
      const sockets = await Promise.all([
        holder.openSocket('console', { workspaceId }),
        holder.openSocket('telemetry', { workspaceId }),
      ]);
      await end();
      expect(await Promise.all(sockets.map(({ ended }) => ended))).toEqual([4401, 4401]);
    }
  });
});

describe('the snapshot', () => {
  const snapshot = ({ tab, workspaceId }: Here, headers: Record<string, string> = {}) =>
    tab.send('/api/snapshot', { headers: { 'x-workspace-id': workspaceId, ...headers } });

  verifies('cp.hints', 'is a 304 while nothing changes, and contains changes that a socket did not send', async () => {
    const ada = await newPerson();
    const socket = await opened(ada);
    const first = await snapshot(ada);
    const tag = { 'if-none-match': first.headers.get('etag') ?? '' };
    const again = await snapshot(ada, tag);
    expect([again.status, again.text]).toEqual([304, '']);
    // The socket is closed, so that the hint about the new draft is lost.
    socket.end();
    await newDraft(ada, 0);
    const changed = await snapshot(ada, tag);
    expect(changed.status).toBe(200);
    const { messages } = await opened(ada);
    expect(messages[0]?.['seq']).toBe(changed.body['seq']);
    expect(Number(changed.body['seq'])).toBeGreaterThan(Number(first.body['seq']));
    expect(changed.body['heads']).not.toEqual(first.body['heads']);
  });

  it('shows no state of the kernel as in force while the kernel is unreachable', async () => {
    const { body } = await snapshot(await newPerson());
    expect(body).toMatchObject({ kernel: 'unreachable', boundary: null });
  });
});

describe('a request to upgrade to another protocol', () => {
  it('gets the ordinary answer, and its body is read', async () => {
    const { hostname, port } = new URL(system.gateway.url);
    const body = JSON.stringify({ email: system.newAddress() });
    const headers = {
      ...{ connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA' },
      ...{ 'content-type': 'application/json', 'content-length': body.length },
    };
    const answered = await new Promise<string>((resolve, reject) => {
      const query = request({ hostname, port, path: '/api/auth/login/begin', method: 'POST', headers }, (answer) => {
        let text = '';
        answer.on('data', (piece) => (text += String(piece))).on('end', () => resolve(`${answer.statusCode} ${text}`));
      });
      query.on('error', reject).end(body);
    });
    expect(answered).toMatch(/^200 .*login_id/);
  });
});
