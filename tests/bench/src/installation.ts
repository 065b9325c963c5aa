import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@countersign/contracts';
import { createApiKey, createTask, runEnqueued, runTask, signInByMessenger } from '@countersign/contracts/gateway';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { declareTopology, removeTopology } from '@countersign/messaging/testing';
import type { BenchDatabase } from './bench-database.ts';
import { openKernel, opened, type Bench } from './bench.ts';
import type { Closing } from './closing.ts';
import { gatewaySettings, type GatewaySettings } from './gateway-settings.ts';
import { initDataFrom } from './messenger.ts';
import { startService, type Running } from './processes.ts';

/** A kernel, and the shared parts of the gateways in front of it. */
export type Installation = {
  kernel: Running;
  kernelDatabase: BenchDatabase;
  /** The database of the gateways. */
  database: TestDatabase;
  settings: GatewaySettings;
  /** Declares the queue, so that runs wait in it without a worker. */
  declareRuns(): Promise<void>;
  openGateway(closing: Closing, environment?: Record<string, string>): Promise<Running>;
};

export async function openInstallation(bench: Bench, closing: Closing): Promise<Installation> {
  const exchange = `countersign-bench-${randomBytes(6).toString('hex')}`;
  const queues = ['gateway.runs', 'gateway.approvals', 'governance-kernel.fences', 'governance-kernel.members'];
  const names = { exchange, queues: queues.map((queue) => `${exchange}.${queue}`) };
  closing.add(() => removeTopology(bench.amqpUrl, names));
  const serviceDir = fileURLToPath(new URL('../../../services/gateway', import.meta.url));
  const database = await createTestDatabase({ serviceDir, schema: 'gateway' });
  closing.add(() => database.drop());
  const settings = gatewaySettings(bench, exchange);
  const kernelDatabase = await bench.seed.copy(closing);
  const kernel = await openKernel(bench, closing, kernelDatabase, settings.kernelEnvironment);
  const environment = settings.environmentFor({ databaseUrl: database.url, kernelUrl: kernel.url });
  const openGateway: Installation['openGateway'] = (during, more = {}) =>
    opened(during, startService('gateway', { ...environment, ...more }));
  const runs = { exchange, queue: `${exchange}.gateway.runs`, events: [runEnqueued] };
  const declareRuns = () => declareTopology(bench.amqpUrl, runs);
  return { kernel, kernelDatabase, database, settings, declareRuns, openGateway };
}

const routes = { signInByMessenger, createApiKey, createTask, runTask };

/** A person who has signed in, with a new workspace. */
export type Person = {
  workspaceId: string;
  /** The headers of the session. */
  headers: Record<string, string>;
  /** The headers of a key that can read and use the agents' routes. */
  keyHeaders: Record<string, string>;
  client: Client<typeof routes>;
};

export async function signIn({ settings }: Installation, { url: baseUrl }: Running): Promise<Person> {
  const initData = initDataFrom(settings.botToken);
  const { body: signedIn } = await createClient(routes, { baseUrl }).signInByMessenger({ body: { initData } });
  const workspaceId = signedIn.workspace.id;
  const headers = { authorization: `Bearer ${signedIn.token}`, 'x-workspace-id': workspaceId };
  const client = createClient(routes, { baseUrl, headers: () => headers });
  const { body: made } = await client.createApiKey({
    body: { name: 'bench', role: 'member', scopes: ['read', 'agent'], expiresInDays: 1 },
  });
  return { workspaceId, headers, keyHeaders: { authorization: `Bearer ${made.key}` }, client };
}
