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
      '`production` logs JSON and rejects weak secrets and settings for development. `development` allows sign-in without a mail server.',
    ),
  DATABASE_URL: secretUrl(['postgres', 'postgresql']).describe(
    "Address of PostgreSQL, with the service's own role and its password.",
  ),
  AMQP_URL: secretUrl(['amqp', 'amqps'])
    .optional()
    .describe('Address of RabbitMQ. Without it, an in-process bus delivers the messages of the outbox.'),
  GOV_AMQP_EXCHANGE: z
    .string()
    .regex(/^[a-z0-9._-]{1,100}$/)
    .default('countersign')
    .describe(
      'Name of the exchange in RabbitMQ. All services of one installation use the same name. Two installations on one broker need different names.',
    ),
  GOV_LOG_LEVEL: z
    .enum(['error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('Log level on standard output.'),
  GOV_ALLOWED_ORIGINS: list().describe('Origins whose pages may call the service from a browser.'),
  GOV_ALLOWED_HOSTS: list().describe(
    'Host names (without a port) that callers may use, in addition to the addresses of the service. Requests to other names are refused.',
  ),
  GOV_TRUSTED_PROXIES: integer({ min: 0, max: 10, fallback: 0 }).describe(
    'Number of proxies in front of the service. Only forwarded addresses from these proxies are trusted.',
  ),
  GOV_STOP_NOTICE: durationMs(5_000).describe(
    'How long the service still serves requests after a stop signal. It reports that it is not ready, so that load balancers notice.',
  ),
  GOV_RATE_LIMITS: flag(true).describe('Whether the rates of requests are limited.'),
  GOV_RATE_LIMIT_STANDARD: perMinute('standard').describe('Requests per minute of one authenticated principal.'),
  GOV_RATE_LIMIT_PUBLIC: perMinute('public').describe('Requests per minute from one address to public routes.'),
  GOV_RATE_LIMIT_AUTH: perMinute('auth').describe(
    'Sign-in requests per minute from one address. This limit prevents guessing.',
  ),
  GOV_RATE_LIMIT_PAGE: perMinute('page').describe('Requests per minute from one address to approval pages.'),
  GOV_RATE_LIMIT_DEMO: perMinute('demo').describe('Requests per minute from one address to the demo.'),
  GOV_RATE_LIMIT_VERIFY: perMinute('verify').describe('Requests per minute from one address to verify an export.'),
  GOV_RATE_LIMIT_WEBHOOK: perMinute('webhook').describe(
    'Webhook events per minute from one address of another system.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: secretUrl(['http', 'https'])
    .optional()
    .describe(
      'Address of an OpenTelemetry collector (OTLP over HTTP, protobuf), without `/v1/traces`. Without it, nothing is exported.',
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
  /** `amqpUrl` is `null` without a broker. */
  bus: Readonly<{ amqpUrl: string | null; exchange: string }>;
  log: Readonly<{ level: LogLevel; silent: boolean; layout: 'json' | 'readable' }>;
  allowedOrigins: readonly string[];
  allowedHosts: readonly string[];
  trustedProxies: number;
  stopNoticeMs: number;
  /** `null` when rates are not limited. */
  rateLimits: Readonly<Record<LimitClassName, LimitClass>> | null;
  /**
   * Whether each answer is checked against its contract before it is sent. False in production, where the check costs
   * too much.
   */
  checksReplies: boolean;
  /** `null` when no collector is configured. */
  collector: Collector | null;
}>;

type ReadVariables = z.infer<z.ZodObject<typeof serviceVariables>>;

/** The shared variables, under the names of the configuration. */
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
