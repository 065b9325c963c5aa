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
import { readApproverKeys } from './approvals/approver-keys.ts';
import { readModelSpend } from './budgets/installation-ceiling.ts';
import { readModelPrices } from './chat/prices.ts';
import { findSandboxAccount, findStdioAccount, mayRead, type StdioAccount } from './sandbox/stdio-account.ts';
import { isInline, readMcpServers } from './mcp/read-mcp-servers.ts';
import { configuredTerms, inSandbox, type McpServerConfig } from './mcp/server-config.ts';
import { dispatchMsMax, type KernelConfig } from './kernel-config.ts';
import type { OauthSettings } from './oauth/oauth-tokens.ts';

/** In development. */
const defaultLogOrigin = 'countersign.local/log';

export const kernelVariables = z.object({
  ...serviceVariables,
  GOV_BIND_ADDR: z.string().default('127.0.0.1').describe('Address that the kernel listens on.'),
  GOV_PORT: port(8080).describe('Port of the kernel.'),
  GOV_HEALTH_PORT: port(8081).describe('Port of health and metrics alone.'),
  GOV_PUBLIC_URL: url()
    .optional()
    .meta({ fallback: 'GOV_BIND_ADDR and GOV_PORT' })
    .describe(
      'Where people reach the kernel, for links to approvals; https makes the cookie of their pages `Secure`. Required in production ' +
        'where `GOV_BIND_ADDR` stands for every address.',
    ),
  GOV_CONSOLE_URL: url()
    .optional()
    .meta({ fallback: 'GOV_PUBLIC_URL' })
    .describe('Where people reach the console: passkeys that are enrolled and used there are bound to this name.'),
  GOV_ADMIN_API_KEY: secret().describe('The operator key: its holder can act for every tenant and principal.'),
  GOV_SERVICE_API_KEY: secret().describe('Key that sibling services present on routes below `/internal`.'),
  GOV_ASSERTION_KEYS: list().describe(
    'Ed25519 public keys (base64url) of gateways, several while they rotate. Without one no assertion is taken.',
  ),
  GOV_SIGNING_KEY: secret().describe('Signs receipts: an Ed25519 key, PKCS#8 PEM.'),
  GOV_POLICY_KEY: secret().describe('Signs the policies that the kernel activates itself: another such key.'),
  GOV_LOG_KEY: secret().describe("Signs the log's checkpoints: a third such key."),
  GOV_EVIDENCE_KEY: secret()
    .optional()
    .describe(
      'Signs envelopes for other tools (DSSE, Sigstore, JWS): an ECDSA P-256 key, PKCS#8 PEM. Without it no envelope is made.',
    ),
  GOV_TENANT_SALT_SECRET: secret().describe(
    'Salts the argument hashes of all tenants. With another one they no longer match.',
  ),
  GOV_LOG_ORIGIN: z
    .string()
    .regex(/^[^\s+]{1,200}$/, 'must have no blanks and no +')
    .optional()
    .meta({ requiredWhen: 'in production', fallback: defaultLogOrigin })
    .describe('Name of the log in its checkpoints. Choose it once: it never changes afterwards.'),
  GOV_TRUST_ROOT: RootKey.optional()
    .meta({ type: 'Ed25519 public key, base64url' })
    .describe(
      'Public half of your offline root key. Keys then count by the trust list that it signed. Without it each kernel publishes its own keys.',
    ),
  GOV_POLICY_FILE: z
    .string()
    .optional()
    .describe(
      'Bundle that is active for every tenant without one of its own. Without it policies come by the API alone.',
    ),
  GOV_POLICY_FILE_INTERVAL: durationMs(10_000).describe('How often the policy file is read again.'),
  GOV_POLICY_MAX_AGE: durationMs(86_400_000).describe(
    'How long a policy counts as fresh once it was confirmed; then everything is denied.',
  ),
  GOV_POLICY_PUBLIC_KEYS: list().describe(
    "Ed25519 public keys (base64url) that may sign activations beside the kernel's own policy key.",
  ),
  GOV_RELATIONS_MAX_AGE: durationMs(86_400_000).describe(
    'How long relations count as fresh once their writer confirmed them; then calls whose policy reads them are denied.',
  ),
  GOV_APPROVER_KEYS: z
    .string()
    .default('[]')
    .describe(
      'JSON: `[{ tenant_id, principal_id, key_id, public_key (base64url) }]` of people who approve by signature.',
    ),
  GOV_UPSTREAM_URL: url()
    .optional()
    .describe('OpenAI-compatible model server, up to and with `/v1`. Without it model calls are refused.'),
  GOV_UPSTREAM_API_KEY: secret({ lengthMin: 1 }).optional().describe('Key for the model server. Agents never see it.'),
  GOV_UPSTREAM_TIMEOUT: durationMs(120_000).describe(
    'How long the model server may be silent, before its answer and between two parts of a stream; and how long a whole answer may take.',
  ),
  GOV_AGENT_UI_MODEL: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Model of an AG-UI run that names none. Without it, each run must name its own.'),
  GOV_MODEL_PRICES: z
    .string()
    .default('{}')
    .describe(
      'JSON: `{ model: { input_per_million_minor, output_per_million_minor, output_tokens_max, input_tokens_max? } }`; `*` is every other model.',
    ),
  GOV_CURRENCY: Currency.optional()
    .meta({ type: 'code of ISO 4217', requiredWhen: 'in production, with GOV_UPSTREAM_URL and GOV_MODEL_PRICES' })
    .describe(
      'Currency of the prices in `GOV_MODEL_PRICES`: a budget in another currency is refused. Without it no budget is compared.',
    ),
  GOV_MODEL_SPEND_LIMIT: z
    .string()
    .optional()
    .meta({ requiredWhen: 'in production, with GOV_UPSTREAM_URL' })
    .describe(
      'The most that models may cost for all tenants together, in minor units and their currency: `500000 EUR`.',
    ),
  GOV_MODEL_SPEND_WINDOW: BudgetWindow.default('total').describe(
    'The window after which that count starts from zero; none by default.',
  ),
  GOV_MCP_SERVERS: z
    .string()
    .optional()
    .describe(
      'MCP servers to govern, as JSON or the path of a JSON file: `{ servers: [...] }`, or `{ mcpServers: {...} }` as MCP clients have it.',
    ),
  GOV_MCP_STDIO_USER: z
    .string()
    .regex(/^\d{1,9}:\d{1,9}$/, 'must be uid:gid, both in numbers')
    .optional()
    .meta({ type: '`uid:gid`' })
    .describe(
      "The account of MCP servers over stdio, where the kernel runs as root; the kernel's own ids mean that they run as the kernel.",
    ),
  GOV_MCP_STDIO: flag(false).describe(
    "In production: MCP servers over stdio may run as programs of the kernel's own account.",
  ),
  GOV_MCP_SANDBOX: flag(false).describe(
    'Each MCP server over stdio of `GOV_MCP_SERVERS` runs in a sandbox or does not start. One without the member `sandbox` gets a folder of its own, and nothing else.',
  ),
  GOV_BWRAP_PATH: z
    .string()
    .regex(/^\//, 'must be an absolute path')
    .optional()
    .meta({ fallback: '/usr/bin/bwrap or /usr/local/bin/bwrap' })
    .describe('Path of bubblewrap, by which sandboxes are made.'),
  GOV_OAUTH_ISSUER: url()
    .optional()
    .describe(
      'Authorization server whose access tokens (JWT) open `/mcp`. Without it `/mcp` takes keys and agent tokens alone.',
    ),
  GOV_OAUTH_JWKS_URL: url()
    .optional()
    .meta({ fallback: 'the metadata of the issuer' })
    .describe('Public keys of the authorization server.'),
  GOV_OAUTH_SCOPES: list().describe('Scopes that each access token needs; `mcp:tools` unless set.'),
  GOV_OAUTH_TENANT_CLAIM: z
    .string()
    .regex(/^[A-Za-z0-9_.:/-]{1,128}$/)
    .default('tenant_id')
    .describe('Claim of an access token that names the tenant.'),
  GOV_MCP_PRIVATE: flag(false).describe(
    'MCP servers that are added at run time may be at private addresses, such as those of this machine.',
  ),
  GOV_MCP_TIMEOUT: durationMs(60_000).describe('How long one tool call may take.'),
  GOV_MCP_APPROVAL_WAIT: durationMs(10_000).describe(
    'How long an escalated call over MCP waits for its approval, if the client cannot open a page. `0`: it is refused at once.',
  ),
  GOV_SEALING_TIMEOUT: durationMs(30_000, { minMs: 1_000 }).describe(
    'How long judging and sealing one call may take on a busy machine, beside the model and the tool. A repeat waits so long for an answer that may still come.',
  ),
  GOV_MCP_LIST_MAX_AGE: durationMs(1_000).describe('How long a tool definition that changed upstream may go unseen.'),
  GOV_DEMO: flag(false).describe('Opens `/api/demo` to everybody who reaches the port.'),
  GOV_CHECKPOINT_RECEIPTS: integer({ min: 1, max: 1_000_000, fallback: 1_000 }).describe(
    'A checkpoint is made after so many receipts, or after the interval below.',
  ),
  GOV_CHECKPOINT_INTERVAL: durationMs(60_000).describe('How old the last checkpoint may grow while receipts come.'),
  GOV_DISPATCH_DEADLINE: durationMs(300_000).describe(
    'How long a dispatched call may stay without an outcome before it is sealed as uncertain. A stream of a model may take what this leaves beside `GOV_MCP_TIMEOUT` and `GOV_SEALING_TIMEOUT`.',
  ),
  GOV_CONFORMANCE_INTERVAL: durationMs(3_600_000, { minMs: 1_000 }).describe(
    'How often the kernel proves again that it denies: a short conformance run, once for all replicas.',
  ),
  GOV_SELF_TEST_DECISIONS: integer({ min: 0, max: 100_000, fallback: 2_000 }).describe(
    'How many decisions the kernel makes in memory before it is ready, so that the first caller meets a warm one.',
  ),
});

/**
 * Variables of the launcher, of the gateway and of command-line runs, which may share an environment with the kernel.
 */
const knownElsewhere = ['GOV_DATA_DIR', 'GOV_FAIL_CLOSED', 'GOV_BOUNDARY_REGISTRY_PATH'];

/** Reads the environment once; a missing, malformed or unknown GOV_* variable stops the start and is named. */
export function kernelConfigFrom(env: Environment = process.env): KernelConfig {
  const read = readConfig(kernelVariables, env, { prefix: 'GOV_', knownElsewhere });
  const { GOV_MODEL_SPEND_LIMIT: spend, GOV_MODEL_SPEND_WINDOW: window } = read;
  const shared = serviceConfigOf(read);
  const config = Object.freeze({
    ...shared,
    allowedHosts: [...shared.allowedHosts, ownName(read)],
    host: read.GOV_BIND_ADDR,
    port: read.GOV_PORT,
    healthPort: read.GOV_HEALTH_PORT,
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

/** Budgets belong to tenants; the installation pays for all of them. */
function requireSpendLimit({ upstream, modelSpend }: KernelConfig): void {
  if (upstream.url === null || modelSpend !== null) return;
  throw new ConfigError([
    'GOV_MODEL_SPEND_LIMIT is missing: say what the models of GOV_UPSTREAM_URL may cost all tenants together, in minor units and their ' +
      'currency, such as 500000 EUR',
  ]);
}

/** Prices are numbers: without their currency, every budget counts them as its own. */
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

function soundRoot(root: string | undefined): string | null {
  if (root === undefined) return null;
  readPublicKeys([root]);
  return root;
}

const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

/** Links to approvals name the address that people reach: one that stands for every address of a machine leads nowhere. */
function requireAddress({ GOV_PUBLIC_URL: publicUrl, GOV_BIND_ADDR: host }: z.infer<typeof kernelVariables>): void {
  if (publicUrl !== undefined || !wildcards.has(host)) return;
  throw new ConfigError([
    `GOV_PUBLIC_URL is missing: say where agents and people reach the kernel, which listens on ${host}, such as http://kernel:8080`,
  ]);
}

/** Verifiers pin the name, and a log keeps it for good: a default name would be that of every installation. */
function requireLogOrigin({ GOV_LOG_ORIGIN: origin }: z.infer<typeof kernelVariables>): void {
  if (origin !== undefined) return;
  throw new ConfigError([
    'GOV_LOG_ORIGIN is missing: choose the name of the log once, such as example.org/log; an installation that ran without it keeps ' +
      defaultLogOrigin,
  ]);
}

/** The name in the addresses that the kernel itself gives out. */
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

/** An account of their own keeps nothing from servers that may read the kernel's secrets where they lie. */
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

/** Such a server is a program with the kernel's own rights: it can read the kernel's memory and files. */
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

/** A call past its deadline counts as abandoned and gives its budget back: one that may still run must not be. */
function refuseEarlyDeadline(config: KernelConfig): void {
  if (dispatchMsMax(config) < config.dispatchDeadlineMs) return;
  const together = 'GOV_UPSTREAM_TIMEOUT, GOV_MCP_TIMEOUT and GOV_SEALING_TIMEOUT together';
  throw new ConfigError([`GOV_DISPATCH_DEADLINE must be longer than ${together}`]);
}
