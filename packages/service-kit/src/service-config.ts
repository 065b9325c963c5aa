import { z } from 'zod';
import { durationMs, flag, integer, list, secretHeaders, secretUrl } from './config-fields.ts';
import type { LogLevel } from './logger.ts';
import { createRateLimiter, limitClassDefaults, type LimitClass } from './rate-limiter.ts';
import { parseHeaders, type Collector } from './telemetry/collector.ts';

/** Variables that every service reads, under the same names. A service adds its own to them. */
export const serviceVariables = {
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .optional()
    .describe(
      '`production` refuses weak secrets and what only development may do, and logs JSON; without it nothing is relaxed.',
    ),
  DATABASE_URL: secretUrl(['postgres', 'postgresql']).describe("The service's own role in PostgreSQL."),
  AMQP_URL: secretUrl(['amqp', 'amqps'])
    .optional()
    .describe('RabbitMQ. Without it a bus inside the process carries the same outbox.'),
  GOV_AMQP_EXCHANGE: z
    .string()
    .regex(/^[a-z0-9._-]{1,100}$/)
    .default('countersign')
    .describe('All services of one installation share it; two installations on one broker must not.'),
  GOV_LOG_LEVEL: z
    .enum(['error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('Level of the log on the standard output.'),
  GOV_ALLOWED_ORIGINS: list().describe('Origins whose pages may call the service from a browser.'),
  GOV_ALLOWED_HOSTS: list().describe(
    'Names (without a port) under which callers reach the service, beside its addresses: a request to any other is refused.',
  ),
  GOV_TRUSTED_PROXIES: integer({ min: 0, max: 10, fallback: 0 }).describe(
    'How many proxies stand before the service: only they are believed when they forward an address.',
  ),
  GOV_STOP_NOTICE: durationMs(5_000).describe(
    'How long the service goes on serving after it was told to stop and says that it is not ready: what load balancers need to notice.',
  ),
  GOV_RATE_LIMITS: flag(true).describe('Whether requests are limited at all.'),
  GOV_RATE_LIMIT_STANDARD: perMinute('standard').describe('Requests a minute of one principal, once it is known.'),
  GOV_RATE_LIMIT_PUBLIC: perMinute('public').describe('Requests a minute from one address to public routes.'),
  GOV_RATE_LIMIT_AUTH: perMinute('auth').describe(
    'Requests a minute of one address to sign in: this is what makes guessing hopeless.',
  ),
  GOV_RATE_LIMIT_PAGE: perMinute('page').describe('Requests a minute of one address for pages of approvals.'),
  GOV_RATE_LIMIT_DEMO: perMinute('demo').describe('Requests a minute of one address to the demo.'),
  GOV_RATE_LIMIT_VERIFY: perMinute('verify').describe('Requests a minute of one address to have an export verified.'),
  GOV_RATE_LIMIT_WEBHOOK: perMinute('webhook').describe('Events a minute that one address of another system may send.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: secretUrl(['http', 'https'])
    .optional()
    .describe(
      'OpenTelemetry collector (OTLP over HTTP, protobuf), up to where `/v1/traces` begins. Without it nothing is exported.',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: secretHeaders()
    .optional()
    .describe('Headers for the collector, such as its credential. Values are percent-encoded.'),
};

function perMinute(name: LimitClassName) {
  return integer({ min: 1, max: 1_000_000, fallback: limitClassDefaults[name].limit });
}

type LimitClassName = keyof typeof limitClassDefaults;

export type ServiceConfig = Readonly<{
  databaseUrl: string;
  /** `amqpUrl` null: no broker. */
  bus: Readonly<{ amqpUrl: string | null; exchange: string }>;
  log: Readonly<{ level: LogLevel; silent: boolean; layout: 'json' | 'readable' }>;
  allowedOrigins: readonly string[];
  allowedHosts: readonly string[];
  trustedProxies: number;
  stopNoticeMs: number;
  /** Null: nothing is limited. */
  rateLimits: Readonly<Record<LimitClassName, LimitClass>> | null;
  /** Each answer is checked against its contract before it leaves: everywhere but in production, where it costs too much. */
  checksReplies: boolean;
  /** Null: no telemetry leaves the process. */
  collector: Collector | null;
}>;

type ReadVariables = z.infer<z.ZodObject<typeof serviceVariables>>;

/** The shared variables under the names of what they mean. */
export function serviceConfigOf(read: ReadVariables): ServiceConfig {
  const isProduction = read.NODE_ENV === 'production';
  return {
    databaseUrl: read.DATABASE_URL,
    bus: { amqpUrl: read.AMQP_URL ?? null, exchange: read.GOV_AMQP_EXCHANGE },
    log: { ...verbosityOf(read.GOV_LOG_LEVEL), layout: isProduction ? 'json' : 'readable' },
    allowedOrigins: read.GOV_ALLOWED_ORIGINS,
    allowedHosts: read.GOV_ALLOWED_HOSTS,
    trustedProxies: read.GOV_TRUSTED_PROXIES,
    stopNoticeMs: read.GOV_STOP_NOTICE,
    rateLimits: read.GOV_RATE_LIMITS ? rateLimitsOf(read) : null,
    checksReplies: !isProduction,
    collector: collectorOf(read),
  };
}

function collectorOf(read: ReadVariables): Collector | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS: headers = '' } = read;
  return url === undefined ? null : { url, headers: parseHeaders(headers) ?? {} };
}

function rateLimitsOf(read: ReadVariables): Record<LimitClassName, LimitClass> {
  const { standard, public: anybody, auth, page, demo, verify, webhook } = limitClassDefaults;
  return {
    standard: { ...standard, limit: read.GOV_RATE_LIMIT_STANDARD },
    public: { ...anybody, limit: read.GOV_RATE_LIMIT_PUBLIC },
    auth: { ...auth, limit: read.GOV_RATE_LIMIT_AUTH },
    page: { ...page, limit: read.GOV_RATE_LIMIT_PAGE },
    demo: { ...demo, limit: read.GOV_RATE_LIMIT_DEMO },
    verify: { ...verify, limit: read.GOV_RATE_LIMIT_VERIFY },
    webhook: { ...webhook, limit: read.GOV_RATE_LIMIT_WEBHOOK },
  };
}

function verbosityOf(level: LogLevel | 'silent'): { level: LogLevel; silent: boolean } {
  return level === 'silent' ? { level: 'error', silent: true } : { level, silent: false };
}

/** The options of an http app of the service, from the configuration. */
export function httpOptionsOf(config: ServiceConfig) {
  return {
    cors: { origins: config.allowedOrigins },
    hosts: config.allowedHosts,
    rateLimiter: config.rateLimits === null ? null : createRateLimiter({ classes: config.rateLimits }),
    trustedProxies: config.trustedProxies,
    checkReplies: config.checksReplies,
  };
}
