import {
  ConfigError,
  durationMs,
  flag,
  integer,
  list,
  port,
  readConfig,
  secret,
  secretUrl,
  url,
  type Environment,
} from '@countersign/service-kit';
import { z } from 'zod';

const Variables = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  DATABASE_URL: secretUrl(['postgres', 'postgresql']),
  AMQP_URL: secretUrl(['amqp', 'amqps']).optional(),
  GOV_BIND_ADDR: z.string().default('127.0.0.1'),
  GOV_PORT: port(8080),
  GOV_HEALTH_PORT: port(8081),
  GOV_PUBLIC_URL: url().optional(),
  GOV_ADMIN_API_KEY: secret(),
  GOV_SERVICE_API_KEY: secret(),
  /** PKCS#8 PEM of the Ed25519 key that signs receipts and checkpoints. */
  GOV_SIGNING_KEY: secret(),
  /** Salts the argument hashes of all tenants. */
  GOV_TENANT_SALT_SECRET: secret(),
  GOV_LOG_ORIGIN: z
    .string()
    .regex(/^[^\s+]{1,200}$/, 'must have no blanks and no +')
    .default('countersign.local/log'),
  GOV_POLICY_FILE: z.string().optional(),
  GOV_POLICY_FILE_INTERVAL: durationMs(10_000),
  GOV_POLICY_MAX_AGE: durationMs(86_400_000),
  /** Base64url Ed25519 public keys that may sign activations, comma-separated; the kernel's own key always may. */
  GOV_POLICY_PUBLIC_KEYS: list(),
  /** JSON: [{ tenant_id, principal_id, key_id, public_key (base64url) }] of people who approve by signature. */
  GOV_APPROVER_KEYS: z.string().default('[]'),
  GOV_UPSTREAM_URL: url().optional(),
  GOV_UPSTREAM_API_KEY: secret({ lengthMin: 1 }).optional(),
  GOV_UPSTREAM_TIMEOUT: durationMs(120_000),
  /** JSON: { model: { input_per_million_minor, output_per_million_minor } }. */
  GOV_MODEL_PRICES: z.string().default('{}'),
  /** Inline JSON or the path of a JSON file: { servers: [...] }. */
  GOV_MCP_SERVERS: z.string().optional(),
  GOV_MCP_TIMEOUT: durationMs(60_000),
  /** How long a tool definition that changed upstream may go unseen. */
  GOV_MCP_LIST_MAX_AGE: durationMs(1_000),
  GOV_ALLOWED_HOSTS: list(),
  GOV_ALLOWED_ORIGINS: list(),
  GOV_TRUSTED_PROXIES: integer({ min: 0, max: 10, fallback: 0 }),
  GOV_RATE_LIMITS: flag(true),
  GOV_CHECKPOINT_RECEIPTS: integer({ min: 1, max: 1_000_000, fallback: 1_000 }),
  GOV_CHECKPOINT_INTERVAL: durationMs(60_000),
  /** How long a dispatched call may stay without an outcome before it is sealed as uncertain. */
  GOV_DISPATCH_DEADLINE: durationMs(300_000),
  GOV_LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug', 'silent']).default('info'),
});

export type KernelConfig = Readonly<z.infer<typeof Variables>>;

/** Reads the environment once; a missing, malformed or unknown GOV_* variable stops the start and is named. */
export function kernelConfigFrom(
  env: Environment = process.env,
  knownElsewhere: readonly string[] = ['GOV_DATA_DIR', 'GOV_FAIL_CLOSED'],
): KernelConfig {
  const config = readConfig(Variables, env, { prefix: 'GOV_', knownElsewhere });
  refuseEarlyDeadline(config);
  return config;
}

/** What a dispatched call may take beside waiting for others: a few batches of sealing, on a busy machine. */
const sealingMsMax = 30_000;

/** How long a dispatched call can stay unsettled in a process that lives: the answer of the model, judging it, sealing. */
export function dispatchMsMax(config: Pick<KernelConfig, 'GOV_UPSTREAM_TIMEOUT' | 'GOV_MCP_TIMEOUT'>): number {
  return config.GOV_UPSTREAM_TIMEOUT + config.GOV_MCP_TIMEOUT + sealingMsMax;
}

/** A call past its deadline counts as abandoned and gives its budget back: one that may still run must not be. */
function refuseEarlyDeadline(config: KernelConfig): void {
  if (dispatchMsMax(config) < config.GOV_DISPATCH_DEADLINE) return;
  const together = `GOV_UPSTREAM_TIMEOUT, GOV_MCP_TIMEOUT and ${sealingMsMax / 1_000} s together`;
  throw new ConfigError([`GOV_DISPATCH_DEADLINE must be longer than ${together}`]);
}
