import {
  ConfigError,
  durationMs,
  flag,
  integer,
  list,
  port,
  readConfig,
  readPublicKeys,
  secret,
  serviceConfigOf,
  serviceVariables,
  sound,
  url,
  type Environment,
} from '@countersign/service-kit';
import { Currency } from '@countersign/contracts';
import { BudgetWindow, RootKey } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { readApproverKeys } from './controls/approvals/approver-keys.ts';
import { readModelSpend } from './controls/budgets/installation-ceiling.ts';
import { readModelPrices } from './doors/chat/prices.ts';
import { findSandboxAccount, findStdioAccount, mayRead, type StdioAccount } from './controls/sandbox/stdio-account.ts';
import { isInline, readMcpServers } from './doors/mcp/read-mcp-servers.ts';
import { configuredTerms, inSandbox, type McpServerConfig } from './doors/mcp/server-config.ts';
import { readWitnesses } from './evidence/proof/read-witnesses.ts';
import { dispatchMsMax, type KernelConfig } from './kernel-config.ts';
import type { OauthSettings } from './doors/oauth/oauth-tokens.ts';
import { soundRoot } from './evidence/trust/sound-root.ts';

/** The default in development. */
const defaultLogOrigin = 'countersign.local/log';

export const kernelVariables = z.object({
  ...serviceVariables,
  GOV_BIND_ADDR: z.string().default('127.0.0.1').describe('Address that the kernel listens on.'),
  GOV_PORT: port(8080).describe('Port of the kernel.'),
  GOV_HEALTH_PORT: port(8081).describe('Separate port for health and metrics.'),
  GOV_PUBLIC_URL: url()
    .optional()
    .meta({ fallback: 'GOV_BIND_ADDR and GOV_PORT' })
    .describe(
      'Address at which people reach the kernel, for links to approvals. With https, the cookie of approval pages is `Secure`. ' +
        'Required in production when `GOV_BIND_ADDR` is a wildcard address.',
    ),
  GOV_CONSOLE_URL: url()
    .optional()
    .meta({ fallback: 'GOV_PUBLIC_URL' })
    .describe('Address of the console for people. Passkeys that are enrolled there are bound to its host name.'),
  GOV_ADMIN_API_KEY: secret().describe('The operator key: its holder can act for every tenant and principal.'),
  GOV_SERVICE_API_KEY: secret().describe('Key that sibling services present on routes below `/internal`.'),
  GOV_ASSERTION_KEYS: list().describe(
    'Ed25519 public keys (base64url) of gateways; several are allowed during a rotation. Without one, no assertion is accepted.',
  ),
  GOV_SIGNING_KEY: secret().describe('Ed25519 key (PKCS#8 PEM) that signs receipts.'),
  GOV_POLICY_KEY: secret().describe('A second Ed25519 key (PKCS#8 PEM), which signs policies activated by the kernel.'),
  GOV_LOG_KEY: secret().describe("A third Ed25519 key (PKCS#8 PEM), which signs the log's checkpoints."),
  GOV_EVIDENCE_KEY: secret()
    .optional()
    .describe(
      'ECDSA P-256 key (PKCS#8 PEM) that signs envelopes for other tools (DSSE, Sigstore, JWS). Without it, no envelopes are created.',
    ),
  GOV_TENANT_SALT_SECRET: secret().describe(
    'Secret that salts the argument hashes of all tenants. If it changes, earlier hashes no longer match.',
  ),
  GOV_LOG_ORIGIN: z
    .string()
    .regex(/^[^\s+]{1,200}$/, 'must have no blanks and no +')
    .optional()
    .meta({ requiredWhen: 'in production', fallback: defaultLogOrigin })
    .describe('Name of the log in its checkpoints. Choose it before the first start, and do not change it afterwards.'),
  GOV_WITNESS_URL: list().describe('Addresses of witnesses (C2SP tlog-witness), without `/add-checkpoint`.'),
  GOV_WITNESS_KEY: list().describe(
    'Verifier keys (`name+hash+key`, Ed25519) of the witnesses, in the order of `GOV_WITNESS_URL`.',
  ),
  GOV_TRUST_ROOT: RootKey.optional()
    .meta({ type: 'Ed25519 public key, base64url' })
    .describe(
      'Your offline root key (public half). The trust list that it signed then decides which keys are valid. Without it, each kernel publishes its own keys.',
    ),
  GOV_POLICY_FILE: z
    .string()
    .optional()
    .describe(
      'Policy bundle for every tenant without a policy of its own. Without it, policies come only from the API.',
    ),
  GOV_POLICY_FILE_INTERVAL: durationMs(10_000).describe('How often the policy file is read again.'),
  GOV_POLICY_MAX_AGE: durationMs(86_400_000).describe(
    'How long a policy counts as fresh after its last confirmation. Afterwards, all calls are denied.',
  ),
  GOV_POLICY_PUBLIC_KEYS: list().describe(
    "Ed25519 public keys (base64url) that may sign activations, in addition to the kernel's own policy key.",
  ),
  GOV_RELATIONS_MAX_AGE: durationMs(86_400_000).describe(
    'How long relations count as fresh after the last confirmation by their writer. Afterwards, calls whose policy reads them are denied.',
  ),
  GOV_APPROVER_KEYS: z
    .string()
    .default('[]')
    .describe(
      'Keys of people who approve by signature, as JSON: `[{ tenant_id, principal_id, key_id, public_key (base64url) }]`.',
    ),
  GOV_UPSTREAM_URL: url()
    .optional()
    .describe('Address of an OpenAI-compatible model server, including `/v1`. Without it, model calls are refused.'),
  GOV_UPSTREAM_API_KEY: secret({ lengthMin: 1 }).optional().describe('Key for the model server. Agents never see it.'),
  GOV_UPSTREAM_TIMEOUT: durationMs(120_000).describe(
    'How long the model server may be silent before its answer or between two parts of a stream. It also limits the total time of an answer that is not streamed.',
  ),
  GOV_AGENT_UI_MODEL: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Default model of AG-UI runs. Without it, each run must specify a model.'),
  GOV_MODEL_PRICES: z
    .string()
    .default('{}')
    .describe(
      'Prices and limits of models, as JSON: `{ model: { input_per_million_minor, output_per_million_minor, output_tokens_max, input_tokens_max? } }`. The key `*` applies to all other models.',
    ),
  GOV_CURRENCY: Currency.optional()
    .meta({ type: 'code of ISO 4217', requiredWhen: 'in production, with GOV_UPSTREAM_URL and GOV_MODEL_PRICES' })
    .describe(
      'Currency of the prices in `GOV_MODEL_PRICES`. Budgets in another currency are refused. Without it, the currency of a budget is not checked.',
    ),
  GOV_MODEL_SPEND_LIMIT: z
    .string()
    .optional()
    .meta({ requiredWhen: 'in production, with GOV_UPSTREAM_URL' })
    .describe(
      'Spend limit for the models of all tenants together, in minor units with the currency, such as `500000 EUR`.',
    ),
  GOV_MODEL_SPEND_WINDOW: BudgetWindow.default('total').describe(
    'Window of `GOV_MODEL_SPEND_LIMIT`. The count restarts from zero in each window. With `total`, it never restarts.',
  ),
  GOV_MCP_SERVERS: z
    .string()
    .optional()
    .describe(
      'MCP servers to govern, as JSON or as the path of a JSON file: `{ servers: [...] }`, or the format of MCP clients, `{ mcpServers: {...} }`.',
    ),
  GOV_MCP_STDIO_USER: z
    .string()
    .regex(/^\d{1,9}:\d{1,9}$/, 'must be uid:gid, both in numbers')
    .optional()
    .meta({ type: '`uid:gid`' })
    .describe(
      "Account of MCP servers over stdio when the kernel runs as root. With the kernel's own ids, they run under the kernel's account.",
    ),
  GOV_MCP_STDIO: flag(false).describe(
    "Whether MCP servers over stdio may run under the kernel's own account in production.",
  ),
  GOV_MCP_SANDBOX: flag(false).describe(
    'Whether each stdio server of `GOV_MCP_SERVERS` must run in a sandbox. A server without the member `sandbox` gets access only to a folder of its own.',
  ),
  GOV_BWRAP_PATH: z
    .string()
    .regex(/^\//, 'must be an absolute path')
    .optional()
    .meta({ fallback: '/usr/bin/bwrap or /usr/local/bin/bwrap' })
    .describe('Path of bubblewrap, which creates the sandboxes.'),
  GOV_OAUTH_ISSUER: url()
    .optional()
    .describe(
      'Authorization server whose access tokens (JWT) are accepted on `/mcp`. Without it, `/mcp` accepts only keys and agent tokens.',
    ),
  GOV_OAUTH_JWKS_URL: url()
    .optional()
    .meta({ fallback: 'the metadata of the issuer' })
    .describe('Address of the public keys of the authorization server.'),
  GOV_OAUTH_SCOPES: list().describe('Scopes that each access token needs. The default is `mcp:tools`.'),
  GOV_OAUTH_TENANT_CLAIM: z
    .string()
    .regex(/^[A-Za-z0-9_.:/-]{1,128}$/)
    .default('tenant_id')
    .describe('Claim of an access token that contains the tenant.'),
  GOV_MCP_PRIVATE: flag(false).describe(
    'Whether MCP servers that are added at run time may have private addresses, such as addresses of this machine.',
  ),
  GOV_MCP_TIMEOUT: durationMs(60_000).describe('How long one tool call may take.'),
  GOV_MCP_APPROVAL_WAIT: durationMs(10_000).describe(
    'How long an escalated call over MCP waits for its approval if the client cannot open a page. With `0`, the call is refused at once.',
  ),
  GOV_SEALING_TIMEOUT: durationMs(30_000, { minMs: 1_000 }).describe(
    'Time limit for judging and sealing one call, in addition to the time limits of the model and the tool. A call counts as running for the sum of these limits.',
  ),
  GOV_MCP_LIST_MAX_AGE: durationMs(1_000).describe('Longest time until the kernel notices a changed upstream tool.'),
  GOV_DEMO: flag(false).describe('Opens `/api/demo` to all callers that can reach the port.'),
  GOV_CHECKPOINT_RECEIPTS: integer({ min: 1, max: 1_000_000, fallback: 1_000 }).describe(
    'Number of new receipts after which a checkpoint is created before the end of `GOV_CHECKPOINT_INTERVAL`.',
  ),
  GOV_CHECKPOINT_INTERVAL: durationMs(60_000).describe('Maximum age of the last checkpoint while new receipts arrive.'),
  GOV_DISPATCH_DEADLINE: durationMs(300_000).describe(
    'How long a dispatched call may stay without an outcome before it is sealed as uncertain. A model stream may last this time minus `GOV_MCP_TIMEOUT` and `GOV_SEALING_TIMEOUT`.',
  ),
  GOV_CONFORMANCE_INTERVAL: durationMs(3_600_000, { minMs: 1_000 }).describe(
    'Interval of a short conformance run, which proves that the kernel denies. One replica runs it for all.',
  ),
  GOV_SELF_TEST_DECISIONS: integer({ min: 0, max: 100_000, fallback: 2_000 }).describe(
    'Number of decisions that the kernel makes in memory before it is ready, so that the first call is fast.',
  ),
});

/**
 * Variables of the launcher, of the gateway and of command-line runs, which may share an environment with the kernel.
 */
const knownElsewhere = ['GOV_DATA_DIR', 'GOV_FAIL_CLOSED', 'GOV_BOUNDARY_REGISTRY_PATH'];

/** Reads the environment once. A missing, malformed or unknown GOV_* variable stops the start with its name. */
export function kernelConfigFrom(env: Environment = process.env): KernelConfig {
  const read = readConfig(kernelVariables, env, { prefix: 'GOV_', knownElsewhere });
  const { GOV_MODEL_SPEND_LIMIT: spend, GOV_MODEL_SPEND_WINDOW: window } = read;
  const shared = serviceConfigOf(read);
  const config = Object.freeze({
    ...shared,
    allowedHosts: [...shared.allowedHosts, ownName(read)],
    ...{ host: read.GOV_BIND_ADDR, port: read.GOV_PORT, healthPort: read.GOV_HEALTH_PORT },
    consoleUrl: read.GOV_CONSOLE_URL ?? null,
    publicUrl: read.GOV_PUBLIC_URL ?? `http://${read.GOV_BIND_ADDR}:${read.GOV_PORT}`,
    adminApiKey: read.GOV_ADMIN_API_KEY,
    serviceApiKey: read.GOV_SERVICE_API_KEY,
    assertionKeys: sound('GOV_ASSERTION_KEYS', () => readPublicKeys(read.GOV_ASSERTION_KEYS)),
    signingKeyPem: read.GOV_SIGNING_KEY,
    policyKeyPem: read.GOV_POLICY_KEY,
    logKeyPem: read.GOV_LOG_KEY,
    evidenceKeyPem: read.GOV_EVIDENCE_KEY ?? null,
    tenantSaltSecret: read.GOV_TENANT_SALT_SECRET,
    logOrigin: read.GOV_LOG_ORIGIN ?? defaultLogOrigin,
    witnesses: sound('GOV_WITNESS_KEY', () => readWitnesses(read.GOV_WITNESS_URL, read.GOV_WITNESS_KEY)),
    trustRoot: sound('GOV_TRUST_ROOT', () => soundRoot(read.GOV_TRUST_ROOT)),
    policyFile: read.GOV_POLICY_FILE ?? null,
    policyFileIntervalMs: read.GOV_POLICY_FILE_INTERVAL,
    policyAgeMaxMs: read.GOV_POLICY_MAX_AGE,
    relationsAgeMaxMs: read.GOV_RELATIONS_MAX_AGE,
    policyKeys: sound('GOV_POLICY_PUBLIC_KEYS', () => readPublicKeys(read.GOV_POLICY_PUBLIC_KEYS)),
    approverKeys: sound('GOV_APPROVER_KEYS', () => readApproverKeys(read.GOV_APPROVER_KEYS)),
    upstream: {
      url: read.GOV_UPSTREAM_URL ?? null,
      apiKey: read.GOV_UPSTREAM_API_KEY ?? null,
      timeoutMs: read.GOV_UPSTREAM_TIMEOUT,
      streamMs: read.GOV_DISPATCH_DEADLINE - read.GOV_MCP_TIMEOUT - read.GOV_SEALING_TIMEOUT - 1,
    },
    agentUiModel: read.GOV_AGENT_UI_MODEL ?? null,
    modelPrices: sound('GOV_MODEL_PRICES', () => readModelPrices(read.GOV_MODEL_PRICES)),
    priceCurrency: read.GOV_CURRENCY ?? null,
    modelSpend: spend === undefined ? null : sound('GOV_MODEL_SPEND_LIMIT', () => readModelSpend(spend, window)),
    ...serverSettings(read),
    ...mcpSettings(read),
    sealingTimeoutMs: read.GOV_SEALING_TIMEOUT,
    hasDemo: read.GOV_DEMO,
    checkpointReceiptsMax: read.GOV_CHECKPOINT_RECEIPTS,
    checkpointIntervalMs: read.GOV_CHECKPOINT_INTERVAL,
    dispatchDeadlineMs: read.GOV_DISPATCH_DEADLINE,
    selfTestDecisions: read.GOV_SELF_TEST_DECISIONS,
    conformanceIntervalMs: read.GOV_CONFORMANCE_INTERVAL,
  });
  refuseEarlyDeadline(config);
  refuseOtherCurrency(config);
  refuseReadableSecrets(config, env);
  if (read.NODE_ENV === 'production' && !read.GOV_MCP_STDIO) refuseStdio(config);
  if (read.NODE_ENV === 'production') {
    requireSpendLimit(config);
    requireCurrency(config);
    requireAddress(read);
    requireLogOrigin(read);
  }
  return config;
}

/** The declared servers, and how processes of servers are started. */
function serverSettings(read: z.infer<typeof kernelVariables>) {
  const { GOV_MCP_SERVERS: servers, GOV_MCP_SANDBOX: areContained } = read;
  const declared = servers === undefined ? [] : sound('GOV_MCP_SERVERS', () => readMcpServers(servers));
  const mcpServers = areContained ? declared.map(inSandbox) : declared;
  return {
    mcpServers,
    stdioAccount: stdioAccountFor(mcpServers, read),
    sandboxAccount: sound('GOV_MCP_STDIO_USER', () => findSandboxAccount(read.GOV_MCP_STDIO_USER)),
    bwrapPath: read.GOV_BWRAP_PATH ?? null,
  };
}

/** The installation pays for all tenants together, and the budgets of tenants do not limit that sum. */
function requireSpendLimit({ upstream, modelSpend }: KernelConfig): void {
  if (upstream.url === null || modelSpend !== null) return;
  throw new ConfigError([
    'GOV_MODEL_SPEND_LIMIT is missing: set what all tenants together may spend on the models of GOV_UPSTREAM_URL, in minor units and their ' +
      'currency, such as 500000 EUR',
  ]);
}

/** Prices are plain numbers. Without a currency, every budget would count them as its own currency. */
function requireCurrency({ upstream, modelPrices, priceCurrency }: KernelConfig): void {
  if (upstream.url === null || priceCurrency !== null || Object.keys(modelPrices).length === 0) return;
  throw new ConfigError(['GOV_CURRENCY is missing: set the currency of the prices in GOV_MODEL_PRICES, such as EUR']);
}

function refuseOtherCurrency({ modelSpend, priceCurrency }: KernelConfig): void {
  if (modelSpend === null || priceCurrency === null || modelSpend.currency === priceCurrency) return;
  throw new ConfigError([
    `GOV_MODEL_SPEND_LIMIT is in ${modelSpend.currency}, and the prices of models are in ${priceCurrency} (GOV_CURRENCY): set both in one currency`,
  ]);
}

const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

/** Links to approvals need an address that people can reach, which a wildcard address is not. */
function requireAddress({ GOV_PUBLIC_URL: publicUrl, GOV_BIND_ADDR: host }: z.infer<typeof kernelVariables>): void {
  if (publicUrl !== undefined || !wildcards.has(host)) return;
  throw new ConfigError([
    `GOV_PUBLIC_URL is missing: set the address at which agents and people reach the kernel (it listens on ${host}), such as http://kernel:8080`,
  ]);
}

/** Verifiers pin the name, and a log keeps it permanently. A default name would be the same for every installation. */
function requireLogOrigin({ GOV_LOG_ORIGIN: origin }: z.infer<typeof kernelVariables>): void {
  if (origin !== undefined) return;
  throw new ConfigError([
    'GOV_LOG_ORIGIN is missing: choose the name of the log once, such as example.org/log; an installation that ran without it keeps ' +
      defaultLogOrigin,
  ]);
}

/** The host name in addresses that the kernel publishes. */
function ownName({ GOV_PUBLIC_URL: publicUrl, GOV_BIND_ADDR: host }: z.infer<typeof kernelVariables>): string {
  return publicUrl === undefined ? host : new URL(publicUrl).hostname;
}

function mcpSettings(read: z.infer<typeof kernelVariables>) {
  return {
    oauth: oauthSettings(read),
    mcpReachesPrivate: read.GOV_MCP_PRIVATE,
    mcpTimeoutMs: read.GOV_MCP_TIMEOUT,
    mcpListAgeMaxMs: read.GOV_MCP_LIST_MAX_AGE,
    mcpApprovalWaitMs: read.GOV_MCP_APPROVAL_WAIT,
  };
}

function oauthSettings(read: z.infer<typeof kernelVariables>): OauthSettings | null {
  const { GOV_OAUTH_ISSUER: issuer, GOV_OAUTH_SCOPES: scopes } = read;
  if (issuer === undefined) return null;
  const base = read.GOV_PUBLIC_URL ?? `http://${read.GOV_BIND_ADDR}:${read.GOV_PORT}`;
  return {
    issuer,
    jwksUrl: read.GOV_OAUTH_JWKS_URL ?? null,
    resource: `${base.replace(/\/+$/, '')}/mcp`,
    scopes: scopes.length === 0 ? ['mcp:tools'] : scopes,
    tenantClaim: read.GOV_OAUTH_TENANT_CLAIM,
  };
}

function stdioAccountFor(
  servers: readonly McpServerConfig[],
  read: z.infer<typeof kernelVariables>,
): StdioAccount | null {
  if (!servers.some(({ transport }) => transport === 'stdio')) return null;
  return sound('GOV_MCP_STDIO_USER', () => findStdioAccount(read.GOV_MCP_STDIO_USER));
}

const holdsSecrets = /^(GOV_(?!POLICY_FILE)\w+|DATABASE_URL|AMQP_URL)_FILE$/;

/** A separate account does not protect secrets whose files the servers can read. */
function refuseReadableSecrets({ stdioAccount: account }: KernelConfig, env: Environment): void {
  if (account === null) return;
  const isSecretFile = (name: string, file: string) =>
    name === 'GOV_MCP_SERVERS' ? !isInline(file) : holdsSecrets.test(name);
  const readable = Object.entries(env)
    .filter(([name, file = '']) => file !== '' && isSecretFile(name, file) && mayRead(account, file))
    .map(([name]) => name);
  if (readable.length === 0) return;
  throw new ConfigError([
    `${readable.join(', ')}: the file can be read by the user ${account.uid}:${account.gid} of MCP servers over stdio; give it mode 0400`,
  ]);
}

/** A server over stdio without a sandbox or account of its own can read the kernel's memory and files. */
function refuseStdio({ mcpServers, stdioAccount }: KernelConfig): void {
  const beside = (server: McpServerConfig) => server.transport === 'stdio' && !isSandboxed(server);
  const names = mcpServers.filter(beside).map(({ server_id: id }) => id);
  if (names.length === 0 || stdioAccount !== null) return;
  throw new ConfigError([
    `GOV_MCP_SERVERS names ${names.join(', ')} over stdio, which runs with the rights of the kernel: run the kernel as root on a ` +
      'host with setpriv, so that they get an account of their own, serve them over HTTP, or accept it with GOV_MCP_STDIO=1',
  ]);
}

function isSandboxed(server: McpServerConfig): boolean {
  const terms = configuredTerms(server);
  return terms !== null && terms.profile !== 'none';
}

/** A call past its deadline counts as abandoned and releases its budget, so it must no longer be running then. */
function refuseEarlyDeadline(config: KernelConfig): void {
  if (dispatchMsMax(config) < config.dispatchDeadlineMs) return;
  const together = 'GOV_UPSTREAM_TIMEOUT, GOV_MCP_TIMEOUT and GOV_SEALING_TIMEOUT together';
  throw new ConfigError([`GOV_DISPATCH_DEADLINE must be longer than ${together}`]);
}
