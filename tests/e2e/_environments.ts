import { fileURLToPath } from 'node:url';
import { encodeBase64Url } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { services, type ServiceName } from '@countersign/services';
import type { NoteServer } from '@countersign/testkit/mcp-server';
import type { ScriptedModel } from '@countersign/testkit/scripted-model';
import type { TcpProxy } from '@countersign/testkit/tcp-proxy';

const repository = fileURLToPath(new URL('../..', import.meta.url));

export type ServiceDirs = Readonly<Record<ServiceName, string>>;

/** The folders of the services in one checkout of this repository. The path of the checkout ends in a slash. */
export function serviceDirsIn(checkout: string): ServiceDirs {
  const dirs = services.map(({ name }) => [name, `${checkout}services/${name}`]);
  return Object.fromEntries(dirs) as ServiceDirs; // one for each row of the register
}

export const serviceDirs = serviceDirsIn(repository);

export type Databases = { kernel: TestDatabase; gateway: TestDatabase };

/** A separate database for each service. */
export async function ownDatabases(dirs: ServiceDirs = serviceDirs): Promise<Databases> {
  return { kernel: await ownDatabase('governance-kernel', dirs), gateway: await ownDatabase('gateway', dirs) };
}

/** A migrated database of one service. */
export async function ownDatabase(name: ServiceName, dirs: ServiceDirs = serviceDirs): Promise<TestDatabase> {
  const row = services.find((each) => each.name === name);
  return createTestDatabase({ serviceDir: dirs[name], schema: row?.schema ?? '' });
}

type Keys = { adminApiKey: string; serviceApiKey: string; assertionKey: ReturnType<typeof generateSigningKey> };

/** The shared keys of the services of one installation. */
export function newKeys(): Keys {
  return {
    adminApiKey: 'admin-key-'.repeat(4),
    serviceApiKey: 'service-key-'.repeat(4),
    assertionKey: generateSigningKey(),
  };
}

type KernelNeeds = {
  keys: Keys;
  databaseUrl: string;
  model: Pick<ScriptedModel, 'url'>;
  notes: Pick<NoteServer, 'url'>;
};

/** The environment of a kernel with the starter policy, a model and a server of notes. */
export function ofKernel({ keys, databaseUrl, model, notes }: KernelNeeds): Record<string, string> {
  const price = { input_per_million_minor: 300, output_per_million_minor: 1_500 };
  const server = { server_id: 'notes', transport: 'http', trust_annotations: true, url: notes.url };
  return {
    NODE_ENV: 'test',
    GOV_SERVICE_API_KEY: keys.serviceApiKey,
    GOV_ADMIN_API_KEY: keys.adminApiKey,
    GOV_ASSERTION_KEYS: encodeBase64Url(keys.assertionKey.publicKey),
    DATABASE_URL: databaseUrl,
    GOV_PORT: '0',
    GOV_HEALTH_PORT: '0',
    ...signingKeys(),
    GOV_TENANT_SALT_SECRET: 'salt-secret-'.repeat(4),
    GOV_LOG_LEVEL: 'silent',
    GOV_RATE_LIMITS: '0',
    GOV_SELF_TEST_DECISIONS: '0',
    GOV_POLICY_FILE: `${repository}infra/local/policy/starter.yaml`,
    GOV_UPSTREAM_URL: model.url,
    GOV_MODEL_PRICES: JSON.stringify({ '*': { ...price, output_tokens_max: 64_000, input_tokens_max: 200_000 } }),
    GOV_MCP_SERVERS: JSON.stringify({ servers: [server] }),
    GOV_MCP_LIST_MAX_AGE: '0',
  };
}

/** One key for each kind of signed object. */
function signingKeys(): Record<string, string> {
  const names = ['GOV_SIGNING_KEY', 'GOV_POLICY_KEY', 'GOV_LOG_KEY'];
  return Object.fromEntries(names.map((name) => [name, generateSigningKey().privateKeyPem]));
}

type GatewayNeeds = { keys: Keys; databaseUrl: string; kernelUrl: string };

export function ofGateway({ keys, databaseUrl, kernelUrl }: GatewayNeeds): Record<string, string> {
  return {
    NODE_ENV: 'development',
    GOV_SERVICE_API_KEY: keys.serviceApiKey,
    GOV_ASSERTION_KEY: keys.assertionKey.privateKeyPem,
    DATABASE_URL: databaseUrl,
    GOV_GATEWAY_PORT: '0',
    GOV_SESSION_SECRET: 'session-secret-'.repeat(4),
    GOV_GOVERNANCE_URL: kernelUrl,
    GOV_FAIL_CLOSED: '1',
    GOV_RATE_LIMITS: '0',
    GOV_LOG_LEVEL: 'silent',
  };
}

type ControlPlaneNeeds = { keys: Keys; databaseUrl: string; gatewayUrl: string; kernelUrl: string };

export function ofControlPlane({
  keys,
  databaseUrl,
  gatewayUrl,
  kernelUrl,
}: ControlPlaneNeeds): Record<string, string> {
  return {
    NODE_ENV: 'development',
    GOV_SERVICE_API_KEY: keys.serviceApiKey,
    GOV_ASSERTION_KEYS: encodeBase64Url(keys.assertionKey.publicKey),
    DATABASE_URL: databaseUrl,
    GOV_GATEWAY_URL: gatewayUrl,
    GOV_GOVERNANCE_URL: kernelUrl,
    GOV_SESSION_SECRET: 'console-secret-'.repeat(4),
    GOV_TRUSTED_PROXIES: '1',
    GOV_RATE_LIMITS: '0',
    GOV_LOG_LEVEL: 'silent',
  };
}

type CommercialNeeds = ControlPlaneNeeds & { controlPlaneUrl: string };

export function ofCommercialGateway({
  keys,
  databaseUrl,
  gatewayUrl,
  kernelUrl,
  controlPlaneUrl,
}: CommercialNeeds): Record<string, string> {
  return {
    NODE_ENV: 'development',
    GOV_SERVICE_API_KEY: keys.serviceApiKey,
    GOV_ASSERTION_KEYS: encodeBase64Url(keys.assertionKey.publicKey),
    DATABASE_URL: databaseUrl,
    GOV_GATEWAY_URL: gatewayUrl,
    GOV_GOVERNANCE_URL: kernelUrl,
    GOV_CONTROL_PLANE_URL: controlPlaneUrl,
    GOV_RATE_LIMITS: '0',
    GOV_LOG_LEVEL: 'silent',
  };
}

/** The address of the same service, database or broker through a proxy. */
export function throughProxy(address: string, { port }: Pick<TcpProxy, 'port'>): string {
  const url = new URL(address);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}
