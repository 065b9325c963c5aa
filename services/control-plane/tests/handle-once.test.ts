import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError, PrincipalId, UserId, WorkspaceId, type ErrorCode } from '@countersign/contracts';
import { createHttpApp, createLogger, serveHttp, type HttpServer } from '@countersign/service-kit';
import { createIncident } from '@countersign/contracts/control-plane';
import { until } from '@countersign/testkit/until';
import pg from 'pg';
import type { Context } from '../src/context.ts';
import { callerKey, type WorkspaceCaller } from '../src/guards.ts';
import { handleKeyedOnce } from '../src/handle-once.ts';
import { incidentView } from '../src/incidents/incident-view.ts';
import { reportIncident } from '../src/incidents/report-incident.ts';
import { createIncidentRoute } from '../src/routes/incidents/create-incident.ts';
import { createReplayRoute } from '../src/routes/replays/create-replay.ts';
import { freezeTargetRoute } from '../src/routes/ops/freeze-target.ts';
import { recordAudit } from '../src/store/audit.ts';
import { sweep } from '../src/workers/sweeper.ts';
import { openStoreContext } from './_store-context.ts';

const userId = UserId.parse(`usr_${'7'.repeat(26)}`);
const incident = { title: 'A leak', severity: 'low', category: 'other', note: 'It was seen' };

let opened: Awaited<ReturnType<typeof openStoreContext>>;
let context: Context;
let administrator: pg.Client;
let server: HttpServer;
let failing: HttpServer;
let workspaceId: WorkspaceId;
let workspaces = 0;
/** The error that the failing route throws after its commit. */
let thrown: ErrorCode | null = null;
/** The status of the final response. The committed response has 201. */
let finalStatus = 201;

beforeAll(async () => {
  opened = await openStoreContext();
  ({ context } = opened);
  const connectionString = opened.database.adminUrl;
  administrator = new pg.Client({ connectionString, options: '-c search_path=control_plane' });
  await administrator.connect();
  server = await serve([createIncidentRoute(context), createReplayRoute(context), freezeTargetRoute(context)]);
  failing = await serve([failingRoute()]);
});
beforeEach(() => {
  workspaceId = WorkspaceId.parse(`wsp_${String((workspaces += 1)).padStart(26, '0')}`);
});
afterAll(async () => {
  await server?.close();
  await failing?.close();
  await administrator?.end();
  await opened?.close();
});

function serve(endpoints: Parameters<typeof createHttpApp>[0]['endpoints']): Promise<HttpServer> {
  const session = () =>
    ({
      workspaceId,
      userId,
      actor: PrincipalId.parse(userId),
      delegation: 'none',
      assertion: 'none',
    }) as WorkspaceCaller; // no other member is read
  const log = createLogger({ service: 'tests', silent: true });
  const app = createHttpApp({ endpoints, guards: { session }, log, callerKey, checkReplies: true });
  return serveHttp(app, { port: 0 });
}

/** Creates an incident, and throws after the commit. */
function failingRoute() {
  return handleKeyedOnce(context)(createIncident)(async ({ body, requestId }, once) => {
    const report = { ...body, dedupKey: null, workspaceId, by: userId, requestId };
    const show = async ({ incident: made }: Awaited<ReturnType<typeof reportIncident>>) => ({
      status: 201,
      body: await incidentView({ reader: context.database.reader, now: context.now }, made),
    });
    const made = await once(show)((tx) => reportIncident(tx, context, report));
    if (thrown !== null) throw new AppError(thrown, 'It failed after the commit');
    return { ...(await show(made)), status: finalStatus };
  });
}

type Post = { key: string; path?: string; body?: object; at?: HttpServer };

async function post({ key, path = '/api/ops/incidents', body = incident, at = server }: Post) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(new URL(path, at.url), sent);
  const text = await response.text();
  const { error } = JSON.parse(text) as { error?: { code: string } };
  const [replayed, tag] = ['idempotency-replayed', 'etag'].map((name) => response.headers.get(name));
  return { status: response.status, text, code: error?.code, replayed, tag };
}

async function count(table: string): Promise<number> {
  const { rows } = await administrator.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM ${table} WHERE workspace_id = $1`,
    [workspaceId],
  );
  return rows[0]?.n ?? -1;
}

describe('an Idempotency-Key', () => {
  const stop = { target: 'agent:crawler', reason: 'It was seen' };
  it.each([
    {
      table: 'incidents',
      path: '/api/ops/incidents',
      body: incident,
      other: { ...incident, title: 'Another' },
      tag: '"1"',
    },
    { table: 'stop_commands', path: '/api/ops/freeze', body: stop, other: { ...stop, reason: 'Another' } },
    { table: 'replays', path: '/api/v1/replays', body: {}, other: { limit: 5 } },
  ])('creates only one row in $table', async ({ table, path, body, other, tag = null }) => {
    const [first, second] = [await post({ key: 'k', path, body }), await post({ key: 'k', path, body })];
    expect(first.status).toBeLessThan(300);
    expect(second).toEqual({ ...first, replayed: 'true' });
    expect([first.replayed, first.tag]).toEqual([null, tag]);
    expect(await post({ key: 'k', path, body: other })).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await count(table)).toBe(1);
  });

  it('replays the last response if the work after the commit changed it', async () => {
    finalStatus = 200;
    const first = await post({ key: 'changed', at: failing });
    finalStatus = 201;
    expect(first.status).toBe(200);
    expect(await post({ key: 'changed', at: failing })).toEqual({ ...first, replayed: 'true' });
  });

  it('belongs to one workspace: the same key creates another incident in another workspace', async () => {
    const first = await post({ key: 'shared' });
    workspaceId = WorkspaceId.parse(`wsp_${'9'.repeat(26)}`);
    const second = await post({ key: 'shared' });
    expect([second.status, second.replayed]).toEqual([201, null]);
    expect(second.text).not.toBe(first.text);
  });

  it('gets 409 while the first request runs', async () => {
    const { first, second } = await whileFirstWaits(() => post({ key: 'raced' }));
    expect(second).toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_FLIGHT' });
    expect([first.status, await count('incidents')]).toEqual([201, 1]);
  });

  it('creates one incident if the first request was presumed lost, because that request is rolled back', async () => {
    const { first, second } = await whileFirstWaits(async () => {
      await administrator.query(`UPDATE idempotency_keys SET created_at = created_at - interval '1 hour'`);
      return post({ key: 'raced' });
    });
    expect(first).toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_FLIGHT' });
    expect([second.status, await count('incidents')]).toEqual([201, 1]);
    expect(await post({ key: 'raced' })).toEqual({ ...second, replayed: 'true' });
  });

  it('can be used again if the commit failed', async () => {
    await administrator.query(
      `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused by a test'; END $$;
       CREATE CONSTRAINT TRIGGER late AFTER INSERT ON incidents DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    const failed = await post({ key: 'late' });
    await administrator.query('DROP TRIGGER late ON incidents');
    const next = await post({ key: 'late' });
    expect([failed.status, next.status, next.replayed, await count('incidents')]).toEqual([500, 201, null, 1]);
  });

  it.each([
    { code: 'STORE_UNAVAILABLE', made: 1, replayed: 'true' },
    { code: 'END_PASSED', made: 2, replayed: null },
  ] as const)(
    'replays the committed response after a temporary error, and is free after a final error: $code',
    async ({ code, made, replayed }) => {
      thrown = code;
      expect((await post({ key: code, at: failing })).code).toBe(code);
      thrown = null;
      expect(await post({ key: code, at: failing })).toMatchObject({ status: 201, replayed });
      expect(await count('incidents')).toBe(made);
    },
  );
});

const began = { action: 'test.began', actor: userId, verdict: 'allow', requestId: 'req_1' } as const;

it('a stored response is removed after a day, but not earlier', async () => {
  for (const key of ['old', 'young']) await post({ key });
  const age = `UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE key = $1`;
  await administrator.query(age, ['old', '24 hours 1 minute']);
  await administrator.query(age, ['young', '23 hours 59 minutes']);
  await sweep(context);
  const { rows } = await administrator.query(`SELECT key FROM idempotency_keys WHERE key IN ('old', 'young')`);
  expect(rows).toEqual([{ key: 'young' }]);
});

/** Locks the row that the request writes last, and runs `act` while the request waits for the lock. */
async function whileFirstWaits(act: () => ReturnType<typeof post>) {
  await context.transaction((tx) => recordAudit(tx, { scope: workspaceId, ...began }, new Date()));
  const holder = new pg.Client({ connectionString: opened.database.adminUrl, options: '-c search_path=control_plane' });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM audit_heads WHERE scope = $1 FOR UPDATE', [workspaceId]);
    const first = post({ key: 'raced' });
    await until(async () => (await waitingStatements()) === 1);
    let settled = false;
    const second = act().finally(() => (settled = true));
    await until(async () => settled || (await waitingStatements()) === 2);
    await holder.query('ROLLBACK');
    return { first: await first, second: await second };
  } finally {
    await holder.end();
  }
}

async function waitingStatements(): Promise<number> {
  const { rows } = await administrator.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND usename = $1 AND wait_event_type = 'Lock'`,
    [opened.database.role],
  );
  return rows.length;
}
