import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@countersign/contracts';
import { type Role, type Run, type SignedIn } from '@countersign/contracts/gateway';
import { gatewayRoutes } from '@countersign/contracts/routes';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { removeTopology } from '@countersign/messaging/testing';
import { createLogger } from '@countersign/service-kit';
import { patienceMs, reaching } from '@countersign/testkit/until';
import pg from 'pg';
import {
  gatewayConfigFrom,
  startGateway,
  type GatewayConfig,
  type StartedGateway,
  type StartOptions,
} from '../src/index.ts';
import { assertionKey } from './_assertion-key.ts';
import { workspaceTwins } from './_twins.ts';

export type GatewayClient = Client<typeof gatewayRoutes>;
export type Person = SignedIn & { client: GatewayClient; headers: Record<string, string> };

export const serviceDir = fileURLToPath(new URL('..', import.meta.url));

/**
 * Creates a database. Omit twins only for tests that fill tables with thousands of rows. `drop` throws when the twin of
 * a workspace was changed.
 */
export async function testDatabase({ twins = true } = {}): Promise<TestDatabase> {
  return createTestDatabase({ serviceDir, schema: 'gateway', ...(twins ? { twins: workspaceTwins() } : {}) });
}

/** Returns unique names for one test on the shared broker. */
export function testExchange(amqpUrl: string) {
  const exchange = `countersign-test-${randomBytes(6).toString('hex')}`;
  const queues = ['runs', 'approvals', 'incidents', 'people'].map((name) => `${exchange}.gateway.${name}`);
  return { amqpUrl, exchange, remove: () => removeTopology(amqpUrl, { exchange, queues }) };
}

export const serviceKey = 'service-key-of-a-gateway-under-test';

/** Returns the environment of a gateway under test. A test overrides the variables that it is about. */
export function testEnv(database: TestDatabase, more: Record<string, string> = {}): Record<string, string> {
  return {
    NODE_ENV: 'development',
    DATABASE_URL: database.url,
    GOV_GATEWAY_PORT: '0',
    GOV_SESSION_SECRET: randomBytes(32).toString('hex'),
    GOV_RATE_LIMITS: '0',
    GOV_SERVICE_API_KEY: serviceKey,
    GOV_ASSERTION_KEY: assertionKey.privateKeyPem,
    ...more,
  };
}

export function testConfig(database: TestDatabase, more: Record<string, string> = {}): GatewayConfig {
  return gatewayConfigFrom(testEnv(database, more));
}

export function startTestGateway(config: GatewayConfig, options: StartOptions = {}): Promise<StartedGateway> {
  const log = createLogger({ service: 'gateway', silent: process.env['TEST_LOG'] === undefined });
  return startGateway(config, { log, ...options });
}

export function clientOf(url: string, headers: Record<string, string> = {}): GatewayClient {
  return createClient(gatewayRoutes, { baseUrl: url, headers: () => headers, timeoutMs: patienceMs });
}

export async function signInAs(url: string, email: string): Promise<Person> {
  const client = clientOf(url);
  const requested = await client.requestEmailCode({ body: { email } });
  const verified = await client.verifyEmailCode({ body: { email, code: requested.body.code ?? '' } });
  const headers = { authorization: `Bearer ${verified.body.token}`, 'x-workspace-id': verified.body.workspace.id };
  return { ...verified.body, headers, client: clientOf(url, headers) };
}

const finalStatuses: readonly Run['status'][] = ['completed', 'failed', 'denied', 'budget_exhausted', 'cancelled'];

/** Waits until the latest run of a task reaches a status. Uses the public route. */
export async function runReaching(
  person: Person,
  taskId: string,
  statuses: readonly Run['status'][] = finalStatuses,
): Promise<Run> {
  const latest = async () => (await person.client.listRuns({ params: { id: taskId } })).body.data[0];
  const run = await reaching(latest, (seen) => seen !== undefined && statuses.includes(seen.status));
  if (run === undefined) throw new Error('The task has no run');
  return run;
}

/** Creates a task and enqueues its run. */
export async function startRun(person: Person, title = 'Tidy up'): Promise<{ taskId: string; runId: string }> {
  const { body: task } = await person.client.createTask({ body: { title, description: '' } });
  const { body: run } = await person.client.runTask({ params: { id: task.id } });
  return { taskId: task.id, runId: run.id };
}

/** Queries rows as the database administrator, past the service. */
export async function rowsOf<Row extends pg.QueryResultRow>(
  database: TestDatabase,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database.adminUrl, options: '-c search_path=gateway' });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Adds a person to a workspace, or changes the role of the person. */
export async function putMember(
  database: TestDatabase,
  { workspaceId, userId, role }: { workspaceId: string; userId: string; role: Role },
): Promise<void> {
  await rowsOf(
    database,
    `INSERT INTO workspace_members (workspace_id, user_id, role, joined_at) VALUES ($1, $2, $3, now())
     ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = EXCLUDED.role`,
    [workspaceId, userId, role],
  );
}

/** Counts the rows that a refused request must not change, without the rows of twins. */
export async function contentOf(database: TestDatabase): Promise<Record<string, number>> {
  const tables = [
    'users',
    'workspaces',
    'workspace_settings',
    'workspace_members',
    'invites',
    'api_keys',
    'tasks',
    'runs',
    'run_steps',
    'approvals',
    'audit_entries',
    'evidence_items',
    'outbox',
  ];
  const [row] = await rowsOf<Record<string, number>>(
    database,
    `SELECT ${tables.map((table) => `(SELECT count(*)::int FROM ${table}) - ${ofTwins(table)} AS ${table}`).join(', ')}`,
  );
  return row ?? {};
}

function ofTwins(table: string): string {
  return `(SELECT count(*)::int FROM twins.kept WHERE of_table = '${table}')`;
}
