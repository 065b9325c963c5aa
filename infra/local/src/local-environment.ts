import type { Environment } from '@countersign/service-kit';
import type { ServiceName } from '@countersign/services';
import type { DataDir } from './data-dir.ts';
import { withShippedServer } from './mcp-servers.ts';
import type { WrittenCatalogue } from './own-catalogue.ts';
import type { DatabaseUrls } from './prepare-database.ts';
import { stdioUser } from './stdio-account.ts';

/** The inputs of a service's environment. */
export type Installation = {
  dataDir: DataDir;
  databaseUrls: DatabaseUrls;
  /** Main port of each service. */
  ports: Readonly<Record<ServiceName, number>>;
  /** Address of each service: planned before its start, and real afterwards. */
  urls: Readonly<Record<ServiceName, string>>;
  /** Health port of the kernel. */
  healthPort: number;
  consolePort: number;
  consoleUrl: string;
  /**
   * The key pair of the gateway for assertions: PKCS#8 PEM and base64url. It is new at each start and never stored,
   * because all services start and end together.
   */
  assertions: { privateKey: string; publicKey: string };
  /** The signed catalogue of the shipped connectors. */
  catalogue: WrittenCatalogue;
  modelUrl: string;
  policyFile: string;
};

export type LocalEnvironment = {
  /** Variables that the user of `make up` can override. */
  readonly defaults: Environment;
  /**
   * Variables that only `make up` sets. They are refused in the environment of `make up`, because they would have no
   * effect.
   */
  readonly refused: readonly string[];
  /** Defaults that depend on the installation. */
  also?(installation: Installation): Environment;
  /** `passedOn` contains the variables of the service from the environment of `make up`. */
  made(installation: Installation, passedOn: Environment): Environment;
};

/**
 * Workspaces have a spend ceiling, so a model without a price is refused. All models have this price until
 * GOV_MODEL_PRICES is set.
 */
const priceOfAnyModel = JSON.stringify({
  '*': {
    input_per_million_minor: 300,
    output_per_million_minor: 1_500,
    output_tokens_max: 64_000,
    input_tokens_max: 200_000,
  },
});

/** No load balancer needs notice before a service stops, so Ctrl-C stops the services at once. */
const quiet = { GOV_LOG_LEVEL: 'warn', GOV_STOP_NOTICE: '0s' } as const;

export const kernelEnvironment = {
  defaults: {
    ...quiet,
    GOV_DEMO: '1',
    // A user who edits a policy waits for the message in the terminal.
    GOV_POLICY_FILE_INTERVAL: '1s',
    GOV_MODEL_PRICES: priceOfAnyModel,
  },
  refused: [
    'GOV_ASSERTION_KEYS',
    'GOV_SIGNING_KEY',
    'GOV_POLICY_KEY',
    'GOV_LOG_KEY',
    'GOV_EVIDENCE_KEY',
    'GOV_TENANT_SALT_SECRET',
  ],
  also: ({ consoleUrl }) => ({ GOV_CONSOLE_URL: consoleUrl }),
  made: ({ dataDir, ports, healthPort, assertions, policyFile, modelUrl }, passedOn) => ({
    GOV_MCP_SERVERS: withShippedServer(dataDir.filesDir, passedOn['GOV_MCP_SERVERS']),
    GOV_MCP_STDIO_USER: stdioUser(dataDir.filesDir, passedOn['GOV_MCP_STDIO_USER']),
    GOV_PORT: String(ports['governance-kernel']),
    GOV_HEALTH_PORT: String(healthPort),
    GOV_ADMIN_API_KEY: dataDir.secrets.adminApiKey,
    GOV_SERVICE_API_KEY: dataDir.secrets.serviceApiKey,
    GOV_ASSERTION_KEYS: assertions.publicKey,
    GOV_SIGNING_KEY: dataDir.secrets.signingKey,
    GOV_POLICY_KEY: dataDir.secrets.policyKey,
    GOV_LOG_KEY: dataDir.secrets.logKey,
    GOV_EVIDENCE_KEY: dataDir.evidenceKey,
    GOV_TENANT_SALT_SECRET: dataDir.secrets.tenantSaltSecret,
    GOV_POLICY_FILE: policyFile,
    GOV_UPSTREAM_URL: modelUrl,
  }),
} as const satisfies LocalEnvironment;

export const gatewayEnvironment = {
  defaults: { ...quiet, NODE_ENV: 'development', GOV_WEBHOOKS_REACH_PRIVATE: '1', GOV_FAIL_CLOSED: '1' },
  refused: [
    'GOV_GATEWAY_PORT',
    'GOV_GATEWAY_CONSOLE_PORT',
    'GOV_CONTROL_PLANE_URL',
    'GOV_COMMERCIAL_URL',
    'GOV_SESSION_SECRET',
    'GOV_GOVERNANCE_URL',
    'GOV_TRUSTED_PUBLIC_KEYS',
    'GOV_ASSERTION_KEY',
  ],
  made: ({ dataDir, ports, urls, consolePort, assertions }) => ({
    GOV_GATEWAY_PORT: String(ports.gateway),
    GOV_GATEWAY_CONSOLE_PORT: String(consolePort),
    GOV_SESSION_SECRET: dataDir.secrets.sessionSecret,
    GOV_GOVERNANCE_URL: urls['governance-kernel'],
    GOV_CONTROL_PLANE_URL: urls['control-plane'],
    GOV_COMMERCIAL_URL: urls['commercial-gateway'],
    GOV_ASSERTION_KEY: assertions.privateKey,
    GOV_SERVICE_API_KEY: dataDir.secrets.serviceApiKey,
    GOV_TRUSTED_PUBLIC_KEYS: dataDir.trustedPublicKeys,
  }),
} as const satisfies LocalEnvironment;

export const controlPlaneEnvironment = {
  defaults: { ...quiet, NODE_ENV: 'development' },
  refused: [
    'GOV_CONTROL_PLANE_PORT',
    'GOV_GATEWAY_URL',
    'GOV_GOVERNANCE_URL',
    'GOV_SESSION_SECRET',
    'GOV_ASSERTION_KEYS',
    'GOV_TRUSTED_PUBLIC_KEYS',
  ],
  also: ({ consoleUrl, catalogue }) => ({
    GOV_CONSOLE_URL: consoleUrl,
    GOV_CONNECTOR_CATALOGUE: catalogue.path,
    GOV_CATALOGUE_KEYS: catalogue.publicKey,
  }),
  made: ({ dataDir, ports, urls, assertions }) => ({
    GOV_CONTROL_PLANE_PORT: String(ports['control-plane']),
    // Only the gateway forwards the address of a caller.
    GOV_TRUSTED_PROXIES: '1',
    GOV_GATEWAY_URL: urls.gateway,
    GOV_GOVERNANCE_URL: urls['governance-kernel'],
    GOV_SERVICE_API_KEY: dataDir.secrets.serviceApiKey,
    GOV_ASSERTION_KEYS: assertions.publicKey,
    GOV_TRUSTED_PUBLIC_KEYS: dataDir.trustedPublicKeys,
    GOV_SESSION_SECRET: dataDir.secrets.consoleSecret,
  }),
} as const satisfies LocalEnvironment;

export const commercialEnvironment = {
  defaults: { ...quiet, NODE_ENV: 'development' },
  refused: [
    'GOV_COMMERCIAL_PORT',
    'GOV_CONTROL_PLANE_URL',
    'GOV_GATEWAY_URL',
    'GOV_GOVERNANCE_URL',
    'GOV_ASSERTION_KEYS',
    'GOV_TRUSTED_PUBLIC_KEYS',
  ],
  made: ({ dataDir, ports, urls, assertions }) => ({
    GOV_COMMERCIAL_PORT: String(ports['commercial-gateway']),
    // Only the gateway forwards the address of a caller.
    GOV_TRUSTED_PROXIES: '1',
    GOV_CONTROL_PLANE_URL: urls['control-plane'],
    GOV_GATEWAY_URL: urls.gateway,
    GOV_GOVERNANCE_URL: urls['governance-kernel'],
    GOV_SERVICE_API_KEY: dataDir.secrets.serviceApiKey,
    GOV_ASSERTION_KEYS: assertions.publicKey,
    GOV_TRUSTED_PUBLIC_KEYS: dataDir.trustedPublicKeys,
  }),
} as const satisfies LocalEnvironment;
