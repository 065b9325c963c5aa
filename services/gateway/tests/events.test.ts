import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import { TaskId } from '@countersign/contracts';
import type { TestDatabase } from '@countersign/database/testing';
import { createParser } from 'eventsource-parser';
import { newId } from '../src/ids.ts';
import type { StartedGateway } from '../src/index.ts';
import { recordAudit } from '../src/store/audit.ts';
import { putMember, signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

let database: TestDatabase;
/** Two gateways on one database. Followers of one see the commits of the other. */
let gateway: StartedGateway;
let otherGateway: StartedGateway;
let ada: Person;
let eve: Person;

beforeAll(async () => {
  database = await testDatabase();
  const config = testConfig(database, { GOV_RUN_WORKERS: '0' });
  [gateway, otherGateway] = [await startTestGateway(config), await startTestGateway(config)];
  ada = await signInAs(gateway.url, 'ada@example.org');
  eve = await signInAs(gateway.url, 'eve@example.org');
});

afterAll(async () => {
  await otherGateway?.stop();
  await gateway?.stop();
  await database?.drop();
});

type Seen = { id: string | undefined; event: string | undefined; type: string; subject: string | null };

/** Follows the events like a browser, until `stop` is called. */
async function follow({ headers }: Person, { url = gateway.url, more = {}, query = '' } = {}) {
  const seen: Seen[] = [];
  const stopping = new AbortController();
  const request = { headers: { ...headers, ...more }, signal: stopping.signal };
  const response = await fetch(new URL(`/api/events${query}`, url), request);
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      const { type, subject } = JSON.parse(data) as Seen; // a StreamedEvent
      seen.push({ id, event, type, subject });
    },
  });
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
  })().catch(() => undefined);
  const stop = async () => {
    stopping.abort();
    await reading;
  };
  return { seen, stop, ended: reading, status: response.status };
}

const newTask = async (title: string) => (await ada.client.createTask({ body: { title, description: '' } })).body.id;

describe('a follower of a workspace', () => {
  it('receives each change of tasks and runs once and in order, by every author, and none of other workspaces', async () => {
    const [here, there, theirs] = [await follow(ada), await follow(ada, { url: otherGateway.url }), await follow(eve)];
    const id = await newTask('First');
    await ada.client.putWorkspaceMode({ params: { id: ada.workspace.id }, body: { mode: 'build' } });
    const { body: run } = await ada.client.runTask({ params: { id } });
    await ada.client.putTaskStatus({ params: { id }, body: { status: 'cancelled' } });
    const expected = [
      ['task', 'task.created', id],
      ['run', 'run.enqueued', run.id],
      ['run', 'run.cancelled', run.id],
    ];
    for (const { seen } of [here, there]) {
      await until(async () => seen.length >= 3);
      expect(seen.map(({ event, type, subject }) => [event, type, subject])).toEqual(expected);
    }
    for (const { stop } of [here, there, theirs]) await stop();
    expect(theirs.seen).toEqual([]);
  });

  it('continues where it stopped, and from any place', async () => {
    const created = {
      workspaceId: ada.workspace.id,
      action: 'task.created',
      actor: ada.user.id,
      verdict: 'allow',
    } as const;
    const first = await follow(ada);
    const ids = [await newTask('Second')];
    await until(async () => first.seen.length === 1);
    await first.stop();
    // The log has more than one page.
    const more = Array.from({ length: 250 }, () => TaskId.parse(newId('tsk')));
    for (let from = 0; from < more.length; from += 50)
      await gateway.context.transaction(async (tx) => {
        for (const subject of more.slice(from, from + 50)) await recordAudit(tx, { ...created, subject }, new Date());
      });
    ids.push(...more);
    const resumed = await follow(ada, { url: otherGateway.url, more: { 'last-event-id': first.seen[0]?.id ?? '' } });
    await until(async () => resumed.seen.length >= 250);
    expect(resumed.seen.map(({ subject }) => subject)).toEqual(ids.slice(1));
    await resumed.stop();
    const all = await follow(ada, { query: '?since=0' });
    await until(async () => all.seen.length >= 251);
    expect(all.seen[0]).toMatchObject({ type: 'task.created' });
    await all.stop();
  });

  it('is refused with an invalid place, without a credential, and in a workspace of others', async () => {
    for (const [more, status] of [
      [{ 'last-event-id': 'rcp_1' }, 400],
      [{ 'last-event-id': '-1' }, 400],
      [{ authorization: 'Bearer nobody' }, 401],
      [{ 'x-workspace-id': eve.workspace.id }, 404],
    ] as const) {
      const answer = await follow(ada, { more });
      expect([more, answer.status]).toEqual([more, status]);
      await answer.stop();
    }
  });

  it('receives nothing more, on any replica, after the membership or the key has ended', async () => {
    const member = await signInAs(gateway.url, 'member@example.org');
    const { id } = ada.workspace;
    await putMember(database, { workspaceId: id, userId: member.user.id, role: 'member' });
    const inAdas = { 'x-workspace-id': id };
    const { body: made } = await ada.client.createApiKey({
      body: { name: 'follower', role: 'member', scopes: ['read'], expiresInDays: 1 },
    });
    const follows = [
      await follow(member, { more: inAdas }),
      await follow(member, { more: inAdas, url: otherGateway.url }),
      await follow(ada, { more: { authorization: `Bearer ${made.key}` }, url: otherGateway.url }),
    ];
    const stays = await follow(ada, { url: otherGateway.url });
    const before = await newTask('Before');
    await until(async () => [...follows, stays].every(({ seen }) => seen.length === 1));
    await ada.client.removeMember({ params: { id, userId: member.user.id } });
    await ada.client.revokeApiKey({ params: { id: made.id } });
    const after = await newTask('After');
    await until(async () => stays.seen.length === 2);
    await Promise.all(follows.map(({ ended }) => ended));
    expect(follows.map(({ seen }) => seen.map(({ subject }) => subject))).toEqual(follows.map(() => [before]));
    expect(stays.seen.map(({ subject }) => subject)).toEqual([before, after]);
    await stays.stop();
  });

  it('is disconnected when the gateway stops', async () => {
    const stopping = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }));
    const { seen } = await follow(ada, { url: stopping.url });
    await stopping.stop();
    expect(seen).toEqual([]);
  });
});
