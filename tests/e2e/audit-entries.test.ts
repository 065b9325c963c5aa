import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ScopedAuditEntry } from '@countersign/contracts/control-plane';
import { encodeBase64Url } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { generateSigningKey } from '@countersign/crypto/signing';
import { controlPlaneConfigFrom, startControlPlane, type StartedControlPlane } from '@countersign/control-plane';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { gatewayConfigFrom, startGateway, type StartedGateway } from '@countersign/gateway';
import { freePort } from '@countersign/local';
import { verifies } from '@countersign/testkit/verifies';
import { AuditVerification } from '@countersign/verifier';
import pg from 'pg';
import { Tab } from './_tab.ts';

const services = fileURLToPath(new URL('../../services/', import.meta.url));
const assertionKey = generateSigningKey();
const minuteMs = 60_000;

let databases: { gateway: TestDatabase; controlPlane: TestDatabase };
let gateway: StartedGateway;
let controlPlane: StartedControlPlane;
let administrator: pg.Client;
let clockMs = Date.now();
let people = 0;
const now = () => new Date(clockMs);

beforeAll(async () => {
  databases = {
    gateway: await createTestDatabase({ serviceDir: `${services}gateway`, schema: 'gateway' }),
    controlPlane: await createTestDatabase({ serviceDir: `${services}control-plane`, schema: 'control_plane' }),
  };
  const port = String(await freePort());
  const serviceKey = { GOV_SERVICE_API_KEY: 'service-key-'.repeat(4) };
  const shared = { ...serviceKey, NODE_ENV: 'development', GOV_RATE_LIMITS: '0', GOV_LOG_LEVEL: 'silent' };
  gateway = await startGateway(
    gatewayConfigFrom({
      ...shared,
      DATABASE_URL: databases.gateway.url,
      GOV_GATEWAY_PORT: '0',
      GOV_SESSION_SECRET: 'session-secret-'.repeat(3),
      GOV_ASSERTION_KEY: assertionKey.privateKeyPem,
      GOV_CONTROL_PLANE_URL: `http://127.0.0.1:${port}`,
      GOV_RUN_WORKERS: '0',
    }),
    { now },
  );
  controlPlane = await startControlPlane(
    controlPlaneConfigFrom({
      ...shared,
      DATABASE_URL: databases.controlPlane.url,
      GOV_CONTROL_PLANE_PORT: port,
      GOV_GATEWAY_URL: gateway.url,
      GOV_GOVERNANCE_URL: 'http://127.0.0.1:9',
      GOV_ASSERTION_KEYS: encodeBase64Url(assertionKey.publicKey),
      GOV_SESSION_SECRET: 'console-secret-'.repeat(3),
      GOV_TRUSTED_PROXIES: '1',
    }),
    { now },
  );
  const { adminUrl } = databases.controlPlane;
  administrator = new pg.Client({ connectionString: adminUrl, options: '-c search_path=control_plane' });
  await administrator.connect();
});

afterAll(async () => {
  await administrator?.end();
  await controlPlane?.stop();
  await gateway?.stop();
  await Promise.all([databases?.gateway.drop(), databases?.controlPlane.drop()]);
});

beforeEach(() => {
  clockMs = Date.now();
});

type Signed = { tab: Tab; email: string; userId: string; sessionId: string };

async function signedIn(email = `person-${++people}@example.org`): Promise<Signed> {
  const tab = new Tab(gateway.url);
  const { body } = await tab.signIn(email);
  return { tab, email, userId: String(body['user_id']), sessionId: String(body['session_id']) };
}

/** The entries of all pages, newest first. */
async function entriesOf(
  { tab }: Pick<Signed, 'tab'>,
  filters: Record<string, string> = {},
): Promise<ScopedAuditEntry[]> {
  const entries: ScopedAuditEntry[] = [];
  let cursor: unknown = null;
  do {
    const query = new URLSearchParams({
      limit: '1',
      ...filters,
      ...(cursor === null ? {} : { cursor: String(cursor) }),
    });
    const { status, body } = await tab.send(`/api/audit/entries?${query.toString()}`);
    expect(status).toBe(200);
    entries.push(...(body['data'] as unknown[]).map((entry) => ScopedAuditEntry.parse(entry)));
    cursor = body['next_cursor'];
  } while (cursor !== null);
  return entries;
}

const wordsOf = ({ action, verdict, reason, actor }: ScopedAuditEntry) => [action, verdict, reason, actor].join(' ');

/** The first fault that `countersign-verify --audit` reports in a log. `null` for none. */
async function faultIn({ tab, userId }: Signed, workspaceId?: string): Promise<string | null> {
  const query = workspaceId === undefined ? '' : `?workspace_id=${workspaceId}`;
  const lines = (await tab.lines(`/api/audit/entries/export${query}`)).split('\n').slice(0, -1);
  const verification = new AuditVerification({ provider: nodeProvider, workspace: workspaceId ?? userId });
  for (const line of lines) verification.take(line);
  const { verdict, fault, entries } = verification.report();
  if (fault !== null) return `${fault.code} after ${entries}`;
  return verdict === 'VERIFIED' ? null : verdict;
}

describe('the audit log of a person', () => {
  it('records each sign-in, each sign-out and each reused refresh cookie, of this person only', async () => {
    const { tab, email, userId, sessionId } = await signedIn();
    await signedIn();
    const thief = tab.stolen();
    await tab.send('/api/auth/refresh', { method: 'POST' });
    clockMs += minuteMs;
    expect((await thief.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
    const second = await signedIn(email);
    expect((await second.tab.send('/api/session', { method: 'DELETE' })).status).toBe(200);
    const third = await signedIn(email);
    const log = await entriesOf(third);
    expect(log.map(wordsOf)).toEqual([
      `session.opened allow ok ${userId}`,
      `session.ended allow ok ${userId}`,
      `session.opened allow ok ${userId}`,
      'session.revoked deny REFRESH_REUSED anonymous',
      `session.opened allow ok ${userId}`,
    ]);
    expect(log.map(({ scope, seq, subject }) => [scope, seq, subject])).toEqual(
      [third, second, second, { sessionId }, { sessionId }].map((of, nth) => [userId, 5 - nth, of.sessionId]),
    );
    expect(log[0]?.details).toEqual({ method: 'code' });
    expect(log.every(({ request_id }) => request_id !== null)).toBe(true);
    expect(await faultIn(third)).toBeNull();
  });

  it('can be filtered by action, actor, verdict and time', async () => {
    const one = await signedIn();
    clockMs += 2 * minuteMs;
    const from = now().toISOString();
    const two = await signedIn(one.email);
    const three = await signedIn(one.email);
    const found = async (filters: Record<string, string>) =>
      (await entriesOf(three, filters)).map(({ subject }) => subject);
    const [first, second, third] = [one.sessionId, two.sessionId, three.sessionId];
    expect(await found({ action: 'session.opened', actor: one.userId })).toEqual([third, second, first]);
    const fitNone: Record<string, string>[] = [
      { action: 'session.ended' },
      { actor: 'anonymous' },
      { verdict: 'deny' },
      { to: '2020-01-01T00:00:00.000Z' },
    ];
    for (const filters of fitNone) expect(await found(filters)).toEqual([]);
    expect(await found({ from })).toEqual([third, second]);
    expect(await found({ to: from })).toEqual([first]);
    expect((await three.tab.send('/api/audit/entries?cursor=zzz')).status).toBe(400);
    expect((await three.tab.send('/api/audit/entries?from=yesterday')).status).toBe(400);
    expect((await new Tab(gateway.url).send('/api/audit/entries')).status).toBe(401);
  });

  verifies('cp.audit', 'reveals an edited, a missing and a cut-off entry', async () => {
    const person = await signedIn();
    for (let count = 0; count < 3; count += 1) person.tab = (await signedIn(person.email)).tab;
    const rows = (sql: string) => administrator.query(sql, [person.userId]);
    expect(await faultIn(person)).toBeNull();
    await rows(`UPDATE audit_entries SET actor = 'mallory' WHERE scope = $1 AND seq = 3`);
    expect(await faultIn(person)).toBe('HASH_MISMATCH after 2');
    await rows(`UPDATE audit_entries SET actor = scope WHERE scope = $1 AND seq = 3`);
    expect(await faultIn(person)).toBeNull();
    await rows('DELETE FROM audit_entries WHERE scope = $1 AND seq = 4');
    expect(await faultIn(person)).toBe('HEAD_MISMATCH after 3');
    await rows('DELETE FROM audit_entries WHERE scope = $1 AND seq = 2');
    expect(await faultIn(person)).toBe('CHAIN_GAP after 1');
  });

  it('counts rejected sign-in attempts, for known and for unknown e-mail addresses', async () => {
    const { email, userId } = await signedIn();
    for (const [address, owner] of [
      [email, userId],
      [`person-${++people}@example.org`, null],
    ] as const) {
      const tab = new Tab(gateway.url);
      const { login_id, code } = (await tab.send('/api/auth/login/begin', { method: 'POST', body: { email: address } }))
        .body;
      const wrong = code === '000000' ? '000001' : '000000';
      for (let count = 0; count < 2; count += 1)
        await tab.send('/api/auth/login/finish', { method: 'POST', body: { login_id, code: wrong } });
      const { rows } = await administrator.query(
        'SELECT user_id, refused FROM logins WHERE email = $1 AND refused > 0',
        [address],
      );
      expect(rows).toEqual([{ user_id: owner, refused: 2 }]);
    }
  });
});

describe('the audit log of a workspace', () => {
  const path = (workspaceId: string) => `/api/audit/entries?workspace_id=${workspaceId}`;
  const workspaceOf = async ({ tab }: Signed) =>
    String(((await tab.send('/api/me')).body['workspaces'] as { id: string }[])[0]?.id);

  async function join({ userId }: Signed, workspaceId: string, role: string): Promise<void> {
    const client = new pg.Client({ connectionString: databases.gateway.adminUrl, options: '-c search_path=gateway' });
    await client.connect();
    await client.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role, joined_at) VALUES ($1, $2, $3, now())
       ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role`,
      [workspaceId, userId, role],
    );
    await client.end();
  }

  verifies('cp.audit', 'can be read by its partners and owners, and records rejected readers', async () => {
    const [owner, neighbour] = [await signedIn(), await signedIn()];
    const workspaceId = await workspaceOf(owner);
    expect((await owner.tab.send(path(workspaceId))).body).toEqual({ data: [], next_cursor: null });
    await join(neighbour, workspaceId, 'member');
    const refused = await neighbour.tab.send(path(workspaceId));
    expect([refused.status, refused.body['error']]).toMatchObject([403, { code: 'PERMISSION_DENIED' }]);
    expect((await neighbour.tab.send(path(workspaceId).replace('entries', 'entries/export'))).status).toBe(403);
    await join(neighbour, workspaceId, 'partner');
    const denied = { scope: workspaceId, actor: neighbour.userId, verdict: 'deny', details: { role: 'member' } };
    for (const reader of [owner, neighbour])
      expect(await entriesOf(reader, { workspace_id: workspaceId })).toMatchObject([
        { ...denied, seq: 2, action: 'export-audit-entries' },
        { ...denied, seq: 1, action: 'list-audit-entries' },
      ]);
    expect(await faultIn(owner, workspaceId)).toBeNull();
    expect((await entriesOf(neighbour)).map(({ scope }) => scope)).toEqual([neighbour.userId]);
  });

  it('is not found by a stranger, whose request adds no entry', async () => {
    const [owner, stranger] = [await signedIn(), await signedIn()];
    const workspaceId = await workspaceOf(owner);
    const reportOf = async (id: string) => {
      const { status, body } = await stranger.tab.send(path(id));
      return { status, text: JSON.stringify(body).replace(/"request_id":"[^"]+"/g, '') };
    };
    const foreign = await reportOf(workspaceId);
    expect(foreign.status).toBe(404);
    for (const id of [`wsp_${'0'.repeat(26)}`, 'none', stranger.userId, owner.userId])
      expect(await reportOf(id)).toEqual(foreign);
    expect(await entriesOf(owner, { workspace_id: workspaceId })).toEqual([]);
  });
});
