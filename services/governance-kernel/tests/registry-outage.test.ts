import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { until } from '@countersign/testkit/until';
import { adminKey } from './_kernel.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
let locking: pg.Client;
let admin: pg.Client;
beforeAll(async () => {
  upstreams = await startUpstreams();
  const options = { connectionString: upstreams.test.database.adminUrl, options: '-c search_path=kernel' };
  [locking, admin] = [new pg.Client(options), new pg.Client(options)];
  await Promise.all([locking.connect(), admin.connect()]);
});
afterAll(async () => {
  await Promise.all([locking.end(), admin.end()]);
  await upstreams.close();
});

const session = 'registry-blinked';

async function execute(): Promise<[number, string | undefined]> {
  const response = await fetch(`${upstreams.test.kernel.url}/mcp/v1/execute`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'acme',
      'content-type': 'application/json',
      'idempotency-key': session,
    },
    body: JSON.stringify({ tool: 'notes.read_note', args: { id: 'a' }, session_id: session }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return [response.status, error?.code];
}

/** Terminates the connections that wait to read the registry, like a restarting database. */
async function breakReaders(): Promise<boolean> {
  const { rowCount } = await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%mcp_%'`,
  );
  return (rowCount ?? 0) > 0;
}

describe('a registry that is unreadable during a database interruption', () => {
  it('returns 503 without a verdict, and the same idempotency key is decided afterwards', async () => {
    await locking.query('BEGIN');
    await locking.query('LOCK TABLE mcp_servers, mcp_tools IN ACCESS EXCLUSIVE MODE');
    const asking = execute();
    // Connections that reach the lock later are terminated as well.
    let isAnswered = false;
    void asking.finally(() => (isAnswered = true));
    await until(async () => (await breakReaders(), isAnswered));
    const refused = await asking;
    await locking.query('ROLLBACK');
    expect(refused).toEqual([503, 'STORE_UNAVAILABLE']);
    expect(await receiptsOf(upstreams.test, session)).toEqual([]);
    expect(await execute()).toEqual([200, undefined]);
    expect(await receiptsOf(upstreams.test, session)).toMatchObject([{ verdict: 'ALLOW' }, { kind: 'outcome' }]);
  });
});
