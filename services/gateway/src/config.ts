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
import { RootKey } from '@countersign/contracts/governance-kernel';
import type { ConfiguredTrust } from '@countersign/verifier';
import { z } from 'zod';
import { readEvalRecord } from './capabilities/eval-record.ts';
import { isLoopbackAddress } from './identity/loopback.ts';
import { signUpEntry, type SignUp } from './identity/sign-up.ts';

/** With a shorter time, a healthy kernel would count as unavailable, and a worker in a garbage collection as dead. */
const waitMsMin = 500;

export const gatewayVariables = z.object({
  ...serviceVariables,
  ...listenVariables({ prefix: 'GOV_GATEWAY', title: 'gateway', port: 3100 }),
  GOV_GATEWAY_PUBLIC_URL: url()
    .optional()
    .meta({ fallback: 'http:// and the address that the gateway listens on' })
    .describe('Scheme, host and port at which people reach the gateway. Links in mails begin with it.'),
  GOV_GATEWAY_CONSOLE_PORT: optionalPort().describe(
    'Second port with the same routes, for browsers at the console. Without it, browsers use the first port.',
  ),
  GOV_SESSION_SECRET: secret().describe(
    'Key for the HMAC of mailed sign-in codes and for the secrets of webhooks. If it changes, the secret of every webhook changes.',
  ),
  GOV_SMTP_URL: secretUrl(['smtp', 'smtps'])
    .optional()
    .meta({ requiredWhen: 'in production' })
    .describe('Mail server for sign-in codes. Without it, the response contains the code in development.'),
  GOV_SIGN_UP: list()
    .optional()
    .meta({ requiredWhen: 'in production', fallback: 'everybody' })
    .describe(
      'List of people who may create a workspace: mail addresses, domains such as `@example.org`, messenger accounts such as `telegram:12345`, or `*` for everybody.',
    ),
  GOV_MESSENGER_BOT_TOKEN: secret()
    .optional()
    .describe('Token of the Telegram bot whose web app signs people in. Without it, sign-in by messenger is off.'),
  GOV_MAIL_FROM: z.string().default('Countersign <no-reply@localhost>').describe('Sender of the mails.'),
  GOV_GOVERNANCE_URL: url()
    .optional()
    .meta({ requiredWhen: 'GOV_FAIL_CLOSED=1' })
    .describe('Scheme, host and port of the kernel. Without it, no run starts.'),
  GOV_HEALTH_URL: url()
    .optional()
    .meta({ fallback: 'GOV_GOVERNANCE_URL' })
    .describe('Address at which the kernel serves `/healthz`, if it is a separate port.'),
  GOV_FAIL_CLOSED: flag(false).describe('Whether the gateway refuses to start without a kernel.'),
  GOV_ASSERTION_KEY: secret()
    .optional()
    .meta({ requiredWhen: 'with GOV_GOVERNANCE_URL, GOV_CONTROL_PLANE_URL or GOV_COMMERCIAL_URL' })
    .describe(
      'Ed25519 key (PKCS#8 PEM) with which the gateway signs assertions. The other services pin its public key in `GOV_ASSERTION_KEYS`.',
    ),
  GOV_SERVICE_API_KEY: secret()
    .optional()
    .meta({ requiredWhen: 'with GOV_GOVERNANCE_URL, GOV_CONTROL_PLANE_URL or GOV_COMMERCIAL_URL' })
    .describe(
      'Key that sibling services present to each other. For example, the gateway uses it to set ceilings and blocked tools at the kernel, and the control plane uses it to request sign-in codes from the gateway.',
    ),
  GOV_TRUSTED_PUBLIC_KEYS: list().describe(
    "Ed25519 public keys (base64url, 32 bytes) of the kernels whose receipts are trusted. Without it, the kernel's keys are pinned at the first use.",
  ),
  GOV_TRUST_ROOT: RootKey.optional()
    .meta({ type: 'Ed25519 public key, base64url' })
    .describe(
      'Your offline root key (public half). Receipts are verified with the trust list that it signed, instead of `GOV_TRUSTED_PUBLIC_KEYS`.',
    ),
  GOV_CONTROL_PLANE_URL: url()
    .optional()
    .describe('Scheme, host and port of the control plane. Without it, browser sign-in is off.'),
  GOV_COMMERCIAL_URL: url()
    .optional()
    .describe(
      'Scheme, host and port of the commercial gateway. Without it, there are no plans and no limits of plans.',
    ),
  GOV_GOVERNANCE_TIMEOUT: durationMs(60_000, { minMs: waitMsMin }).describe(
    'Time limit of one governed call, including the upstream work.',
  ),
  GOV_RUN_WORKERS: integer({ min: 0, max: 64, fallback: 4 }).describe(
    'Number of runs that this process executes at once.',
  ),
  GOV_RUNS_PER_WORKSPACE: integer({ min: 0, max: 4_096, fallback: 0 }).describe(
    'Number of runs of one workspace that all gateways together execute at once. `0` means one fewer than `GOV_RUN_WORKERS`, but at least one.',
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
      'Result file of a complete test run. `make test` writes it to `tests/eval-record.json`, and `/api/capabilities` reports it.',
    ),
  GOV_BUILD_COMMIT: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional()
    .meta({ fallback: 'unknown' })
    .describe(
      'Commit of this build, if the build contains no other changes. A recorded run applies only to its own commit.',
    ),
  GOV_WEBHOOKS_REACH_PRIVATE: flag(false).describe(
    'Whether webhooks may use plain HTTP and private addresses. Use it only on a machine of your own.',
  ),
  GOV_CURRENCY: Currency.optional()
    .meta({ type: 'code of ISO 4217', fallback: 'each workspace chooses, and begins with USD' })
    .describe(
      'Currency of model prices, the same as at the kernel. New workspaces begin with it, and budgets in another currency are refused.',
    ),
  GOV_MODEL: z.string().min(1).max(256).default('default').describe('Name of the model for runs.'),
  GOV_MODEL_OUTPUT_TOKENS_MAX: integer({ min: 1, max: 1_000_000, fallback: 4_096 }).describe(
    'Maximum number of output tokens in one model answer of a run.',
  ),
});

export type GatewayConfig = ServiceConfig &
  ListenConfig &
  Readonly<{
    /** The beginning of links to the gateway. */
    publicUrl: string;
    /** The port for browsers. `null` when they use `port` like all other callers. */
    consolePort: number | null;
    /** The key of the HMAC of email codes. The key of webhook secrets is derived from it. */
    sessionSecret: string;
    /** True only in development without a mail provider, and then only this machine can connect. */
    revealsCodes: boolean;
    mail: { smtpUrl: string; from: string } | null;
    signUp: SignUp;
    /** `null` when sign-in by messenger is off. */
    messengerBotToken: string | null;
    /** `null` when no kernel is configured. */
    governance: GovernanceConfig | null;
    /** `null` when no control plane is configured. */
    controlPlane: SiblingConfig | null;
    /** `null` when no commercial gateway is configured. */
    commercial: SiblingConfig | null;
    failClosed: boolean;
    /** The currency of model prices. `null` when it is not configured. */
    currency: string | null;
    /** The recorded test run of this build. `null` when there is none. */
    evalRecord: EvalRecord | null;
    webhooks: WebhookConfig;
    runs: RunConfig;
  }>;

export type GovernanceConfig = Readonly<{
  url: string;
  healthUrl: string;
  /** Signs the assertions that identify the caller to other services. */
  assertionKey: KeyObject;
  serviceApiKey: string;
  /** The keys that receipts are verified with, or the root key of the list of these keys. */
  trust: ConfiguredTrust;
  timeoutMs: number;
}>;

type SiblingConfig = Readonly<{ url: string; assertionKey: KeyObject; serviceApiKey: string }>;

/** `secretKey`: the key from which secrets of webhooks are derived. */
type WebhookConfig = Readonly<{ secretKey: KeyObject; reachPrivate: boolean }>;

type RunConfig = Readonly<{
  workers: number;
  /** The most runs of one workspace at once, on all gateways together. */
  perWorkspaceMax: number;
  leaseMs: number;
  workerName: string;
  model: string;
  outputTokensMax: number;
}>;

/** Reads the environment. Throws a ConfigError that names each problem it found. */
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
      // One worker remains for the other workspaces.
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

/** Derives the webhook key from the session secret, which every installation already stores. */
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

/** Who may sign up: everybody when nothing is configured. In production, the setting is mandatory. */
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
    trust: { root: read.GOV_TRUST_ROOT ?? null, configured: read.GOV_TRUSTED_PUBLIC_KEYS },
    timeoutMs: read.GOV_GOVERNANCE_TIMEOUT,
  };
}

/** Problems with settings under which strangers could sign in, or no person could. */
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
      'GOV_TRUSTED_PROXIES lets callers in through a proxy, and development without mail would show them the sign-in codes of everybody: ' +
        'set GOV_SMTP_URL',
    );
  if (read.NODE_ENV === 'production' && (read.GOV_SIGN_UP ?? []).length === 0)
    problems.push('GOV_SIGN_UP is missing: name who may open a workspace (addresses, @domains), or * for everybody');
  for (const entry of signUpOf(read))
    if (!signUpEntry.test(entry))
      problems.push(`GOV_SIGN_UP holds "${entry}", which is not an address, @domain, telegram:<id> or *`);
  return problems;
}

const originVariables = [
  'GOV_GOVERNANCE_URL',
  'GOV_HEALTH_URL',
  'GOV_CONTROL_PLANE_URL',
  'GOV_COMMERCIAL_URL',
  'GOV_GATEWAY_PUBLIC_URL',
] as const;

function refuseContradictions(read: Read): void {
  const problems = [];
  if (read.GOV_FAIL_CLOSED && read.GOV_GOVERNANCE_URL === undefined)
    problems.push('GOV_GOVERNANCE_URL is missing: GOV_FAIL_CLOSED=1 makes governance mandatory');
  for (const name of ['GOV_ASSERTION_KEY', 'GOV_SERVICE_API_KEY'] as const)
    for (const sibling of ['GOV_GOVERNANCE_URL', 'GOV_CONTROL_PLANE_URL', 'GOV_COMMERCIAL_URL'] as const)
      if (read[sibling] !== undefined && read[name] === undefined)
        problems.push(`${name} is missing: the service at ${sibling} requires it`);
  if (read.GOV_ASSERTION_KEY !== undefined && readAssertionKey(read.GOV_ASSERTION_KEY) === null)
    problems.push('GOV_ASSERTION_KEY is malformed: it must be an Ed25519 private key, as PKCS#8 PEM');
  problems.push(...signInProblems(read));
  for (const name of originVariables)
    if (read[name] !== undefined && !isOrigin(read[name]))
      problems.push(`${name} must contain only scheme, host and port: the service itself defines the paths`);
  for (const key of read.GOV_TRUSTED_PUBLIC_KEYS)
    if (!/^[A-Za-z0-9_-]{43}$/.test(key)) problems.push('GOV_TRUSTED_PUBLIC_KEYS holds something that is not a key');
  if (problems.length > 0) throw new ConfigError(problems);
}

function isOrigin(value: string): boolean {
  const { pathname, search, hash, username, password } = new URL(value);
  return pathname === '/' && [search, hash, username, password].every((piece) => piece === '');
}
