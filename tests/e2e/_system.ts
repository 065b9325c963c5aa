import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, isAppError, type Client } from '@countersign/contracts';
import * as routes from '@countersign/contracts/routes';
import { embeddedUrl, startSystem, type StartedSystem } from '@countersign/local';
import pg from 'pg';
import { clusterTemplate } from './_shared-parts.ts';

/** A data directory of its own, for systems that are started in it one after the other. */
export function scratchDataDir(): { path: string; remove(): void } {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-e2e-'));
  // PostgreSQL runs under its own account when we are root, and must pass through.
  chmodSync(scratch, 0o711);
  return { path: join(scratch, 'data'), remove: () => rmSync(scratch, { recursive: true, force: true }) };
}

/**
 * The real system as `make up` starts it, in a process of its own, on the embedded PostgreSQL. A file needs one of its own when it sets
 * variables, stops the system, or reaches more than its own workspaces; every other file uses `sharedSystem`.
 */
export async function startIn(
  dataDir: string,
  variables: Record<string, string> = {},
  { durable, ...more }: { choosePort?: () => Promise<number>; durable?: boolean } = {},
): Promise<StartedSystem> {
  await beginWithTemplate(dataDir, { durable });
  return await startSystem({ dataDir, variables: { ...withoutWarmth, ...variables }, ...more });
}

/** The self test of a kernel warms it up for load that no test of a started system makes. */
export const withoutWarmth = { GOV_SELF_TEST_DECISIONS: '0' };

/** A first start then needs neither initdb nor migrations. Commits wait for the disk if `durable`. */
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

/** Runs a statement in the database of a system that `startIn` started, behind its services' back. */
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
  return routes.createKernelClient({ baseUrl: kernelUrl, apiKey: adminApiKey }).as({ tenant, principal });
}

export type GatewayClient = Client<typeof routes.gatewayRoutes>;
export type SignedIn = { client: GatewayClient; workspaceId: string; token: string };

/** Signs a person in by the code that development answers. */
export async function signIn({ gatewayUrl }: Pick<StartedSystem, 'gatewayUrl'>, email: string): Promise<SignedIn> {
  const anonymous = createClient(routes.gatewayRoutes, { baseUrl: gatewayUrl });
  const requested = await anonymous.requestEmailCode({ body: { email } });
  const { body } = await anonymous.verifyEmailCode({ body: { email, code: requested.body.code ?? '' } });
  const headers = { authorization: `Bearer ${body.token}`, 'x-workspace-id': body.workspace.id };
  const client = createClient(routes.gatewayRoutes, { baseUrl: gatewayUrl, headers: () => headers });
  await settingsAtKernel(client, body.workspace.id);
  return { client, workspaceId: body.workspace.id, token: body.token };
}

/** Until then the kernel denies every call in a workspace that was just made. A kernel that is away has them before it decides. */
async function settingsAtKernel(client: GatewayClient, workspaceId: string): Promise<void> {
  await client.applyWorkspaceSettings({ params: { id: workspaceId } }).catch((error: unknown) => {
    if (!isAppError(error)) throw error;
  });
}

/** Addresses that no other file and no other run of this file uses. The same name is the same address. */
export function addressBook(): (name: string) => string {
  const own = randomBytes(4).toString('hex');
  return (name) => `${name}.${own}@example.org`;
}
