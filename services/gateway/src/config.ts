import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { hostname } from 'node:os';
import {
  ConfigError,
  durationMs,
  flag,
  integer,
  list,
  listenConfigOf,
  listenVariables,
  optionalPort,
  readAssertionKey,
  readConfig,
  secret,
  secretUrl,
  serviceConfigOf,
  serviceVariables,
  url,
  type Environment,
  type ListenConfig,
  type ServiceConfig,
} from '@countersign/service-kit';
import { Currency } from '@countersign/contracts';
import type { EvalRecord } from '@countersign/contracts/gateway';
import { z } from 'zod';
import { readEvalRecord } from './capabilities/eval-record.ts';
import { isLoopbackAddress } from './identity/loopback.ts';
import { signUpEntry, type SignUp } from './identity/sign-up.ts';

/** With less, a healthy kernel would count as silent, and a worker held up by a garbage collection as dead. */
const waitMsMin = 500;

export const gatewayVariables = z.object({
  ...serviceVariables,
  ...listenVariables({ prefix: 'GOV_GATEWAY', title: 'gateway', port: 3100 }),
  GOV_GATEWAY_PUBLIC_URL: url()
    .optional()
    .meta({ fallback: 'http:// and the address that the gateway listens on' })
    .describe('Scheme, host and port that people reach the gateway by; links in mails begin with it.'),
  GOV_GATEWAY_CONSOLE_PORT: optionalPort().describe(
    'A second port that answers the same, for browsers at the console. Without it they come to the first one.',
  ),
  GOV_SESSION_SECRET: secret().describe(
    'Keys the HMAC of the sign-in codes that are sent by mail, and the secrets of webhooks: with another one, every webhook has another secret.',
  ),
  GOV_SMTP_URL: secretUrl(['smtp', 'smtps'])
    .optional()
    .meta({ requiredWhen: 'in production' })
    .describe('Mail server for sign-in codes. In development the code is in the answer without it.'),
  GOV_SIGN_UP: list()
    .optional()
    .meta({ requiredWhen: 'in production', fallback: 'everybody' })
    .describe(
      'Who may open a workspace: addresses, domains as `@example.org`, people of a messenger as `telegram:12345`, or `*` for everybody.',
    ),
  GOV_MESSENGER_BOT_TOKEN: secret()
    .optional()
    .describe('Token of the Telegram bot whose web app signs people in. Without it sign-in by messenger is off.'),
  GOV_MAIL_FROM: z.string().default('Countersign <no-reply@localhost>').describe('Sender of the mails.'),
  GOV_GOVERNANCE_URL: url()
    .optional()
    .meta({ requiredWhen: 'GOV_FAIL_CLOSED=1' })
    .describe('Scheme, host and port of the kernel. Without it no run starts.'),
  GOV_HEALTH_URL: url()
    .optional()
    .meta({ fallback: 'GOV_GOVERNANCE_URL' })
    .describe('Where the kernel answers `/healthz`, when that is another port.'),
  GOV_FAIL_CLOSED: flag(false).describe('Whether a kernel is mandatory: without one the gateway does not start.'),
  GOV_ASSERTION_KEY: secret()
    .optional()
    .meta({ requiredWhen: 'with GOV_GOVERNANCE_URL, GOV_CONTROL_PLANE_URL or GOV_COMMERCIAL_URL' })
    .describe(
      'The key by which the gateway signs assertions: an Ed25519 key of its own, PKCS#8 PEM. Its siblings pin its public key (GOV_ASSERTION_KEYS).',
    ),
  GOV_SERVICE_API_KEY: secret()
    .optional()
    .meta({ requiredWhen: 'with GOV_GOVERNANCE_URL, GOV_CONTROL_PLANE_URL or GOV_COMMERCIAL_URL' })
    .describe(
      'Key that sibling services present to each other: the gateway sets ceilings and blocked tools at the kernel, the control plane asks the gateway for codes.',
    ),
  GOV_TRUSTED_PUBLIC_KEYS: list().describe(
    "Ed25519 public keys (base64url, 32 bytes) that receipts must be signed with. Without it the kernel's are pinned at the first use.",
  ),
  GOV_CONTROL_PLANE_URL: url()
    .optional()
    .describe('Scheme, host and port of the control plane. Without it sign-in by a browser is off.'),
  GOV_COMMERCIAL_URL: url()
    .optional()
    .describe(
      'Scheme, host and port of the commercial gateway. Without it there are no plans, and nothing is limited.',
    ),
  GOV_GOVERNANCE_TIMEOUT: durationMs(60_000, { minMs: waitMsMin }).describe(
    'How long one governed call may take, upstream work included.',
  ),
  GOV_RUN_WORKERS: integer({ min: 0, max: 64, fallback: 4 }).describe('How many runs this process works on at once.'),
  GOV_RUNS_PER_WORKSPACE: integer({ min: 0, max: 4_096, fallback: 0 }).describe(
    'How many runs of one workspace are worked on at once, by all gateways together. 0: one fewer than `GOV_RUN_WORKERS`, and at least one.',
  ),
  GOV_RUN_LEASE: durationMs(15_000, { minMs: waitMsMin }).describe(
    'A worker that has not renewed its lease for this long counts as dead.',
  ),
  GOV_EVAL_RECORD: z
    .string()
    .min(1)
    .optional()
    .meta({ fallback: 'no run is recorded' })
    .describe(
      'File that a whole run of the tests wrote (`make test` leaves it in `tests/eval-record.json`); `/api/capabilities` tells it.',
    ),
  GOV_BUILD_COMMIT: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional()
    .meta({ fallback: 'unknown' })
    .describe(
      'The commit that this build was made of, if it was made of nothing else. A recorded run counts for its own commit alone.',
    ),
  GOV_WEBHOOKS_REACH_PRIVATE: flag(false).describe(
    'Whether webhooks may lead to plain HTTP and to addresses that are not public: for a machine of your own.',
  ),
  GOV_CURRENCY: Currency.optional()
    .meta({ type: 'code of ISO 4217', fallback: 'each workspace chooses, and begins with USD' })
    .describe(
      'Currency of model prices, as the kernel has it: new workspaces begin with it, and a budget in another one is refused.',
    ),
  GOV_MODEL: z.string().min(1).max(256).default('default').describe('The model that runs ask for.'),
  GOV_MODEL_OUTPUT_TOKENS_MAX: integer({ min: 1, max: 1_000_000, fallback: 4_096 }).describe(
    'How long one answer of the model in a run may be.',
  ),
});

export type GatewayConfig = ServiceConfig &
  ListenConfig &
  Readonly<{
    /** The beginning of links to the gateway. */
    publicUrl: string;
    /** Null: browsers come to `port`. */
    consolePort: number | null;
    /** Keys the HMAC of email codes. */
    sessionSecret: string;
    /** True only in development without a mail provider, and then only this machine can connect. */
    revealsCodes: boolean;
    mail: { smtpUrl: string; from: string } | null;
    signUp: SignUp;
    /** `null` when sign-in by messenger is off. */
    messengerBotToken: string | null;
    /** Null: no kernel is configured. */
    governance: GovernanceConfig | null;
    /** Null: no control plane is configured. */
    controlPlane: SiblingConfig | null;
    /** `null` when no commercial gateway is configured. */
    commercial: SiblingConfig | null;
    failClosed: boolean;
    /** The currency of model prices. `null` when it is not configured. */
    currency: string | null;
    /** A recorded run of the tests, when it ran this very build; else null. */
    evalRecord: EvalRecord | null;
    webhooks: WebhookConfig;
    runs: RunConfig;
  }>;

export type GovernanceConfig = Readonly<{
  url: string;
  healthUrl: string;
  /** Signs for whom a call is made. */
  assertionKey: KeyObject;
  serviceApiKey: string;
  trustedPublicKeys: readonly string[];
  timeoutMs: number;
}>;

type SiblingConfig = Readonly<{ url: string; assertionKey: KeyObject; serviceApiKey: string }>;

/** `secretKey`: secrets of webhooks follow from it. */
type WebhookConfig = Readonly<{ secretKey: KeyObject; reachPrivate: boolean }>;

type RunConfig = Readonly<{
  workers: number;
  /** The limit for all gateways together. */
  perWorkspaceMax: number;
  leaseMs: number;
  workerName: string;
  model: string;
  outputTokensMax: number;
}>;

/** Reads the environment. Throws ConfigError that names every problem at once. */
export function gatewayConfigFrom(env: Environment = process.env): GatewayConfig {
  const read = readConfig(gatewayVariables, env, { prefix: 'GOV_' });
  refuseContradictions(read);
  const { GOV_SMTP_URL: smtpUrl } = read;
  const shared = serviceConfigOf(read);
  return Object.freeze({
    ...shared,
    allowedHosts: [...shared.allowedHosts, read.GOV_GATEWAY_HOST],
    ...listenConfigOf('GOV_GATEWAY', read),
    publicUrl: read.GOV_GATEWAY_PUBLIC_URL ?? `http://${read.GOV_GATEWAY_HOST}:${read.GOV_GATEWAY_PORT}`,
    consolePort: read.GOV_GATEWAY_CONSOLE_PORT ?? null,
    sessionSecret: read.GOV_SESSION_SECRET,
    revealsCodes: revealsCodes(read),
    mail: smtpUrl === undefined ? null : { smtpUrl, from: read.GOV_MAIL_FROM },
    signUp: signUpOf(read),
    messengerBotToken: read.GOV_MESSENGER_BOT_TOKEN ?? null,
    governance: governanceOf(read),
    controlPlane: siblingOf(read, read.GOV_CONTROL_PLANE_URL),
    commercial: siblingOf(read, read.GOV_COMMERCIAL_URL),
    failClosed: read.GOV_FAIL_CLOSED,
    currency: read.GOV_CURRENCY ?? null,
    evalRecord: evalRecordOf(read),
    webhooks: { secretKey: webhookKey(read), reachPrivate: read.GOV_WEBHOOKS_REACH_PRIVATE },
    runs: {
      workers: read.GOV_RUN_WORKERS,
      // One worker is left for the other workspaces.
      perWorkspaceMax: read.GOV_RUNS_PER_WORKSPACE || Math.max(1, read.GOV_RUN_WORKERS - 1),
      leaseMs: read.GOV_RUN_LEASE,
      workerName: `${hostname()}:${process.pid}`,
      model: read.GOV_MODEL,
      outputTokensMax: read.GOV_MODEL_OUTPUT_TOKENS_MAX,
    },
  });
}

type Read = z.infer<typeof gatewayVariables>;

function revealsCodes({ NODE_ENV, GOV_SMTP_URL }: Read): boolean {
  return NODE_ENV === 'development' && GOV_SMTP_URL === undefined;
}

/** A key of its own purpose, from the one that the installation has to keep anyway. */
function webhookKey({ GOV_SESSION_SECRET }: Read): KeyObject {
  const key = hkdfSync('sha256', GOV_SESSION_SECRET, '', 'countersign.webhook-secrets.v1', 32);
  return createSecretKey(Buffer.from(key));
}

function evalRecordOf({ GOV_EVAL_RECORD: file, GOV_BUILD_COMMIT: commit }: Read): EvalRecord | null {
  try {
    return readEvalRecord(file, commit);
  } catch (error) {
    throw new ConfigError([`GOV_EVAL_RECORD: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

/** Everybody, where nothing is said: production refuses to start then. */
function signUpOf({ GOV_SIGN_UP: entries }: Read): SignUp {
  return entries === undefined || entries.length === 0 ? ['*'] : entries.map((entry) => entry.toLowerCase());
}

/** The credentials of the gateway for its siblings; `null` when it has none. */
function voiceOf({ GOV_ASSERTION_KEY: pem, GOV_SERVICE_API_KEY: serviceApiKey }: Read) {
  const assertionKey = pem === undefined ? null : readAssertionKey(pem);
  return assertionKey === null || serviceApiKey === undefined ? null : { assertionKey, serviceApiKey };
}

function siblingOf(read: Read, siblingUrl: string | undefined): SiblingConfig | null {
  const voice = voiceOf(read);
  return siblingUrl === undefined || voice === null ? null : { url: siblingUrl, ...voice };
}

function governanceOf(read: Read): GovernanceConfig | null {
  const { GOV_GOVERNANCE_URL: kernelUrl } = read;
  const voice = voiceOf(read);
  if (kernelUrl === undefined || voice === null) return null;
  return {
    url: kernelUrl,
    healthUrl: read.GOV_HEALTH_URL ?? kernelUrl,
    ...voice,
    trustedPublicKeys: read.GOV_TRUSTED_PUBLIC_KEYS,
    timeoutMs: read.GOV_GOVERNANCE_TIMEOUT,
  };
}

/** Settings under which strangers could sign in, or no person could. */
function signInProblems(read: Read): string[] {
  const problems = [];
  if (read.NODE_ENV === 'production' && read.GOV_SMTP_URL === undefined)
    problems.push('GOV_SMTP_URL is missing: sign-in in production needs mail');
  if (revealsCodes(read) && !isLoopbackAddress(read.GOV_GATEWAY_HOST))
    problems.push(
      'GOV_GATEWAY_HOST lets other machines in, and development without mail would show them the sign-in codes of everybody: ' +
        'set GOV_SMTP_URL, or bind to 127.0.0.1',
    );
  if (revealsCodes(read) && read.GOV_TRUSTED_PROXIES > 0)
    problems.push(
      'GOV_TRUSTED_PROXIES says that others come through a proxy, whom development without mail shows the sign-in codes of everybody: ' +
        'set GOV_SMTP_URL',
    );
  if (read.NODE_ENV === 'production' && (read.GOV_SIGN_UP ?? []).length === 0)
    problems.push('GOV_SIGN_UP is missing: name who may open a workspace (addresses, @domains), or * for everybody');
  for (const entry of signUpOf(read))
    if (!signUpEntry.test(entry))
      problems.push(`GOV_SIGN_UP holds "${entry}", which is no address, @domain, telegram:<id> or *`);
  return problems;
}

const originVariables = [
  'GOV_GOVERNANCE_URL',
  'GOV_HEALTH_URL',
  'GOV_CONTROL_PLANE_URL',
  'GOV_GATEWAY_PUBLIC_URL',
] as const;

function refuseContradictions(read: Read): void {
  const problems = [];
  if (read.GOV_FAIL_CLOSED && read.GOV_GOVERNANCE_URL === undefined)
    problems.push('GOV_GOVERNANCE_URL is missing: GOV_FAIL_CLOSED=1 makes governance mandatory');
  for (const name of ['GOV_ASSERTION_KEY', 'GOV_SERVICE_API_KEY'] as const)
    for (const sibling of ['GOV_GOVERNANCE_URL', 'GOV_CONTROL_PLANE_URL'] as const)
      if (read[sibling] !== undefined && read[name] === undefined)
        problems.push(`${name} is missing: the service at ${sibling} asks for it`);
  if (read.GOV_ASSERTION_KEY !== undefined && readAssertionKey(read.GOV_ASSERTION_KEY) === null)
    problems.push('GOV_ASSERTION_KEY is malformed: it must be an Ed25519 private key, as PKCS#8 PEM');
  problems.push(...signInProblems(read));
  for (const name of originVariables)
    if (read[name] !== undefined && !isOrigin(read[name]))
      problems.push(`${name} must be scheme, host and port alone: the paths below it are the service's own`);
  for (const key of read.GOV_TRUSTED_PUBLIC_KEYS)
    if (!/^[A-Za-z0-9_-]{43}$/.test(key)) problems.push('GOV_TRUSTED_PUBLIC_KEYS holds something that is not a key');
  if (problems.length > 0) throw new ConfigError(problems);
}

function isOrigin(value: string): boolean {
  const { pathname, search, hash, username, password } = new URL(value);
  return pathname === '/' && [search, hash, username, password].every((part) => part === '');
}
