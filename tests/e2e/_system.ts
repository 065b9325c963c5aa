import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, isAppError, type Client } from '@countersign/contracts';
import * as routes from '@countersign/contracts/routes';
import { embeddedUrl, startSystem, type StartedSystem } from '@countersign/local';
import { patienceMs } from '@countersign/testkit/until';
import pg from 'pg';
import { clusterTemplate } from './_shared-parts.ts';

/** A new data directory, for systems that start in it one after another. */
export function scratchDataDir(): { path: string; remove(): void } {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-e2e-'));
  // PostgreSQL runs under its own account when we are root, and must be able to enter the folder.
  chmodSync(scratch, 0o711);
  return { path: join(scratch, 'data'), remove: () => rmSync(scratch, { recursive: true, force: true }) };
}

/**
 * The real system as `make up` starts it, in its own process on the embedded PostgreSQL. A file needs its own system if
 * it sets variables, stops the system, or changes more than its own workspaces. All other files use `sharedSystem`.
 */
export async function startIn(
  dataDir: string,
  variables: Record<string, string> = {},
  { durable, ...more }: { choosePort?: () => Promise<number>; durable?: boolean } = {},
): Promise<StartedSystem> {
  await beginWithTemplate(dataDir, { durable });
  return await startSystem({ dataDir, variables: { ...withoutWarmth, ...variables }, ...more });
}

/** Turns off the self test of a kernel, which only warms it up for load. */
export const withoutWarmth = { GOV_SELF_TEST_DECISIONS: '0' };

/**
 * Copies a migrated cluster, so that a first start needs neither initdb nor migrations. Commits wait for the disk if
 * `durable`.
 */
export async function beginWithTemplate(
  dataDir: string,
  { durable }: { durable?: boolean | undefined } = {},
): Promise<void> {
  if (existsSync(join(dataDir, 'postgres'))) return;
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  execFileSync('cp', ['-a', await clusterTemplate(), join(dataDir, 'postgres')]);
  if (durable) writeFileSync(join(dataDir, 'postgres/cluster/postgresql.auto.conf'), '');
}

type Behind = { schema: 'commercial' | 'control_plane' | 'gateway' | 'kernel'; statement: string; values?: unknown[] };

/** Runs a statement in the database of a system that `startIn` started, without its services. */
export async function inDatabase(dataDir: string, { schema, statement, values = [] }: Behind): Promise<void> {
  const connectionString = embeddedUrl(join(dataDir, 'postgres')) ?? '';
  const client = new pg.Client({ connectionString, options: `-c search_path=${schema}` });
  await client.connect();
  await client.query(statement, values).finally(() => client.end());
}

export type KernelClient = ReturnType<routes.KernelClient['as']>;

export function kernelClient(
  { kernelUrl, adminApiKey }: Pick<StartedSystem, 'kernelUrl' | 'adminApiKey'>,
  tenant: string,
  principal = 'admin',
): KernelClient {
  return routes
    .createKernelClient({ baseUrl: kernelUrl, apiKey: adminApiKey, timeoutMs: patienceMs })
    .as({ tenant, principal });
}

export type GatewayClient = Client<typeof routes.gatewayRoutes>;
export type SignedIn = { client: GatewayClient; workspaceId: string; token: string };

/** Signs a person in with the code that a development system returns. */
export async function signIn({ gatewayUrl }: Pick<StartedSystem, 'gatewayUrl'>, email: string): Promise<SignedIn> {
  const anonymous = createClient(routes.gatewayRoutes, { baseUrl: gatewayUrl, timeoutMs: patienceMs });
  const requested = await anonymous.requestEmailCode({ body: { email } });
  const { body } = await anonymous.verifyEmailCode({ body: { email, code: requested.body.code ?? '' } });
  const headers = { authorization: `Bearer ${body.token}`, 'x-workspace-id': body.workspace.id };
  const client = createClient(routes.gatewayRoutes, {
    baseUrl: gatewayUrl,
    headers: () => headers,
    timeoutMs: patienceMs,
  });
  await settingsAtKernel(client, body.workspace.id);
  return { client, workspaceId: body.workspace.id, token: body.token };
}

/**
 * Delivers the settings of a new workspace to the kernel. Without them, the kernel denies every call. A kernel that is
 * unreachable now receives them before its first decision.
 */
async function settingsAtKernel(client: GatewayClient, workspaceId: string): Promise<void> {
  await client.applyWorkspaceSettings({ params: { id: workspaceId } }).catch((error: unknown) => {
    if (!isAppError(error)) throw error;
  });
}

/** Addresses that no other file and no other run of this file uses. The same name results in the same address. */
export function addressBook(): (name: string) => string {
  const own = randomBytes(4).toString('hex');
  return (name) => `${name}.${own}@example.org`;
}
