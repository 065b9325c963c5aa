import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SignInId, UserId } from '@countersign/contracts';
import {
  createTestDatabase,
  explainStatements,
  findGrowingReads,
  recordPlans,
  type PlanRecorder,
  type TestDatabase,
} from '@countersign/database/testing';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openControlPlaneDatabase, type ControlPlaneDatabase } from '../src/store/database.ts';
import * as logins from '../src/store/logins.ts';
import * as sessions from '../src/store/sessions.ts';

const now = new Date();
const later = new Date(now.getTime() + 60_000);
const rows = 20_000;
let scratch: TestDatabase;
let database: ControlPlaneDatabase;
let recorder: PlanRecorder;

beforeAll(async () => {
  scratch = await createTestDatabase({
    serviceDir: fileURLToPath(new URL('..', import.meta.url)),
    schema: 'control_plane',
  });
  await fill();
  await explainStatements(scratch);
  database = openControlPlaneDatabase(scratch.url);
  recorder = recordPlans(database.pool);
}, 120_000);

afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

it('no statement reads more of a table than it answers with or removes, however many people sign in', async () => {
  const plans = await recorder.during(async () => {
    await logins.findOpenLogin(database.reader, 'login-7', now);
    await sessions.findByAccessToken(database.reader, 'access-7', now);
    await database.transaction(async (tx) => {
      await logins.insertLogin(tx, { idHash: 'new', email: 'new@example.org', createdAt: now, expiresAt: later });
      await logins.finishLogin(tx, 'login-7', now);
      const session = { id: id('NEW'), userId: UserId.parse(`usr_${'0'.repeat(26)}`), methods: ['code' as const] };
      const times = { provenAt: now, createdAt: now, expiresAt: later, endedAt: null };
      await sessions.insertSession(tx, { ...session, ...times });
      const tokens = {
        sessionId: session.id,
        accessHash: 'a',
        accessExpiresAt: later,
        refreshHash: 'r',
        issuedAt: now,
      };
      await sessions.insertTokens(tx, tokens);
      const token = await sessions.lockRefreshToken(tx, 'r');
      if (token === null) throw new Error('The token that was stored is not found');
      await sessions.spendRefreshToken(tx, token, now);
      await sessions.extendSession(tx, token.session, later);
      await sessions.endSession(tx, token.session, { now, reason: 'signed_out' });
      expect(await sessions.findSession(tx, session.id)).toMatchObject({ endedAt: now });
      await logins.forgetLogins(tx, new Date(0));
      await sessions.forgetSessions(tx, { before: new Date(0), now: new Date(0) });
    });
  });
  expect(plans.length).toBeGreaterThan(12);
  expect(await findGrowingReads(scratch, plans, { rows: 20, pages: 100 })).toEqual([]);
});

function id(end: string): SignInId {
  return SignInId.parse(`ses_${end.padStart(26, '0')}`);
}

async function fill(): Promise<void> {
  const client = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=control_plane' });
  await client.connect();
  const one = `generate_series(1, ${rows}) AS n`;
  const session = `'ses_' || lpad(n::text, 26, '0')`;
  await client.query(`
    INSERT INTO logins SELECT 'login-' || n, n || '@example.org', now(), now() + interval '10 minutes' FROM ${one};
    INSERT INTO sessions SELECT ${session}, 'usr_' || lpad(n::text, 26, '0'), '{code}', now(), now(), now() + interval '30 days' FROM ${one};
    INSERT INTO access_tokens SELECT 'access-' || n, ${session}, now() + interval '15 minutes' FROM ${one};
    INSERT INTO refresh_tokens SELECT 'refresh-' || n, ${session}, now() FROM ${one};
    ANALYZE`);
  await client.end();
}
