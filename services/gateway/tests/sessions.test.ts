import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { sweep } from '../src/workers/sweep.ts';
import { clientOf, rowsOf, signInAs, startTestGateway, testConfig, testDatabase } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let nowMs = Date.now();
const dayMs = 24 * 3_600_000;

beforeAll(async () => {
  database = await testDatabase();
  const config = testConfig(database, { GOV_RUN_WORKERS: '0' });
  gateway = await startTestGateway(config, { now: () => new Date(nowMs) });
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const refused = { status: 401, code: 'CREDENTIALS_INVALID' };

describe('the sessions of a person', () => {
  verifies('gw.auth.logout', 'are listed once per sign-in, and each can end another one at once', async () => {
    const laptop = await signInAs(gateway.url, 'grace@example.org');
    const signedInAt = nowMs;
    const stranger = await signInAs(gateway.url, 'eve@example.org');
    nowMs += dayMs;
    const token = (await laptop.client.listTasks()).headers.get('x-new-token');
    const phone = await signInAs(gateway.url, 'grace@example.org');
    const { data } = (await phone.client.listSessions()).body;
    expect(data.map(({ current }) => current)).toEqual([true, false]);
    expect(data.map((session) => Date.parse(session.signedInAt))).toEqual([nowMs, signedInAt]);
    expect(data.map((session) => Date.parse(session.renewedAt))).toEqual([nowMs, nowMs]);
    expect(JSON.stringify(data)).not.toContain('cs_');

    const params = { id: data[1]?.id ?? '' };
    await expect(stranger.client.revokeSession({ params })).rejects.toMatchObject({ status: 404 });
    const renewed = clientOf(gateway.url, { ...laptop.headers, authorization: `Bearer ${token}` });
    await renewed.listTasks();
    await phone.client.revokeSession({ params });
    for (const client of [renewed, laptop.client]) await expect(client.listTasks()).rejects.toMatchObject(refused);
    await expect(phone.client.revokeSession({ params })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(phone.client.revokeSession({ params: { id: "' OR 1=1" } })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect((await phone.client.listSessions()).body.data).toHaveLength(1);
    await stranger.client.listTasks();
    const [entry] = (await phone.client.listAudit({ query: { action: 'session.revoked' } })).body.data;
    expect(entry).toMatchObject({ actor: phone.user.id, verdict: 'allow', details: { session: params.id } });
  });

  it('are removed a month after they ended, together with their whole sign-in', async () => {
    const person = await signInAs(gateway.url, 'kept@example.org');
    const rows = () =>
      rowsOf(database, 'SELECT 1 FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.email = $1', [
        'kept@example.org',
      ]);
    nowMs += 29 * dayMs;
    const token = (await person.client.listTasks()).headers.get('x-new-token');
    const renewed = clientOf(gateway.url, { ...person.headers, authorization: `Bearer ${token}` });
    // The first session ended more than a month ago. It stays, because a rotation locks it.
    await rowsOf(
      database,
      "UPDATE sessions SET expires_at = expires_at - interval '90 days' WHERE rotated_at IS NOT NULL",
    );
    await sweep(gateway.context);
    expect(await rows()).toHaveLength(2);
    await renewed.listTasks();
    nowMs += 60 * dayMs + 1;
    await sweep(gateway.context);
    expect(await rows()).toEqual([]);
  });
});
