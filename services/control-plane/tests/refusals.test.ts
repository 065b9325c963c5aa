import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { UserId } from '@countersign/contracts';
import type { Context } from '../src/context.ts';
import { loginLifetimeMs } from '../src/sessions/lifetimes.ts';
import { listAuditEntries } from '../src/store/audit.ts';
import * as logins from '../src/store/logins.ts';
import { sweep } from '../src/workers/sweeper.ts';
import { openStoreContext } from './_store-context.ts';

const person = UserId.parse(`usr_${'7'.repeat(26)}`);
const beganAt = new Date('2026-03-01T10:00:00.000Z');
const expiresAt = new Date(beganAt.getTime() + loginLifetimeMs);
let opened: Awaited<ReturnType<typeof openStoreContext>>;
let context: Context;
let clock: Date;

beforeAll(async () => {
  opened = await openStoreContext({ now: () => clock });
  context = opened.context;
});

beforeEach(() => {
  clock = beganAt;
});

afterAll(() => opened?.close());

async function refusedLogin(idHash: string, userId: UserId | null, refused: number): Promise<void> {
  await context.transaction(async (tx) => {
    await logins.insertLogin(tx, {
      sessionId: null,
      statement: null,
      oidc: null,
      idHash,
      email: 'ada@example.org',
      userId,
      createdAt: beganAt,
      expiresAt,
    });
    for (let count = 0; count < refused; count += 1) await logins.countRefusal(tx, idHash);
  });
}

const reportOf = async () => (await listAuditEntries(context.database.reader, person, { limit: 50 })).data;
const loginsLeft = () => context.database.reader.login.count();

describe('refused codes of a login', () => {
  it('are reported to the person when the login has ended, as one entry for each login', async () => {
    await refusedLogin('guessed', person, 40);
    await refusedLogin('mistyped', person, 1);
    await refusedLogin('clean', person, 0);
    await refusedLogin('unknown', null, 3);
    await sweep(context);
    expect([await reportOf(), await loginsLeft()]).toEqual([[], 4]);
    // The clock of the database advances between two reads.
    clock = new Date(expiresAt.getTime() + 1_000);
    await Promise.all([sweep(context), sweep(context)]);
    await sweep(context);
    const entries = await reportOf();
    expect(entries.map(({ details }) => details['refused']).sort()).toEqual([1, 40]);
    for (const entry of entries)
      expect(entry).toMatchObject({
        action: 'login.refused',
        actor: 'anonymous',
        verdict: 'deny',
        reason: 'CODE_INVALID',
        details: { method: 'code', began_at: beganAt.toISOString() },
      });
    expect(await loginsLeft()).toBe(0);
  });

  it('are reported to the person whom the login created', async () => {
    await refusedLogin('first', null, 2);
    const newcomer = UserId.parse(`usr_${'8'.repeat(26)}`);
    await context.transaction((tx) => logins.finishLogin(tx, { idHash: 'first', userId: newcomer }, clock));
    clock = new Date(expiresAt.getTime() + 1);
    await sweep(context);
    const { data } = await listAuditEntries(context.database.reader, newcomer, { limit: 50 });
    expect(data.map(({ details }) => details['refused'])).toEqual([2]);
  });

  it('are all reported, even if one pass cannot report all of them', async () => {
    const flooded = UserId.parse(`usr_${'9'.repeat(26)}`);
    for (let count = 0; count < 130; count += 1) await refusedLogin(`flood-${count}`, flooded, 1);
    clock = new Date(expiresAt.getTime() + 1);
    await sweep(context);
    expect(await loginsLeft()).toBe(30);
    await sweep(context);
    const { data } = await listAuditEntries(context.database.reader, flooded, { limit: 200 });
    expect([data.length, await loginsLeft()]).toEqual([130, 0]);
  });
});
