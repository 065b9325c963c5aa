import { z } from 'zod';
import { flag, integer, list, secretUrl } from './config-fields.ts';
import type { LogLevel } from './logger.ts';
import { createRateLimiter } from './rate-limiter.ts';

/** Variables that every service reads, under the same names. A service adds its own to them. */
export const serviceVariables = {
  NODE_ENV: z.enum(['development', 'test', 'production']).optional(),
  DATABASE_URL: secretUrl(['postgres', 'postgresql']),
  /** Without it the in-process bus carries the same outbox. */
  AMQP_URL: secretUrl(['amqp', 'amqps']).optional(),
  /** All services of one installation share it; two installations on one broker must not. */
  GOV_AMQP_EXCHANGE: z
    .string()
    .regex(/^[a-z0-9._-]{1,100}$/)
    .default('countersign'),
  GOV_LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug', 'silent']).default('info'),
  GOV_ALLOWED_ORIGINS: list(),
  /** Names (without a port) under which callers reach the service, beside its addresses: a request to any other is refused. */
  GOV_ALLOWED_HOSTS: list(),
  GOV_TRUSTED_PROXIES: integer({ min: 0, max: 10, fallback: 0 }),
  GOV_RATE_LIMITS: flag(true),
};

export type ServiceConfig = Readonly<{
  databaseUrl: string;
  /** `amqpUrl` null: no broker. */
  bus: Readonly<{ amqpUrl: string | null; exchange: string }>;
  log: Readonly<{ level: LogLevel; silent: boolean; layout: 'json' | 'readable' }>;
  allowedOrigins: readonly string[];
  allowedHosts: readonly string[];
  trustedProxies: number;
  limitsRates: boolean;
  /** Each answer is checked against its contract before it leaves: everywhere but in production, where it costs too much. */
  checksReplies: boolean;
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
    limitsRates: read.GOV_RATE_LIMITS,
    checksReplies: !isProduction,
  };
}

function verbosityOf(level: LogLevel | 'silent'): { level: LogLevel; silent: boolean } {
  return level === 'silent' ? { level: 'error', silent: true } : { level, silent: false };
}

/** What the configuration says about an http app of the service. */
export function httpOptionsOf(config: ServiceConfig) {
  return {
    cors: { origins: config.allowedOrigins },
    hosts: config.allowedHosts,
    rateLimiter: config.limitsRates ? createRateLimiter() : null,
    trustedProxies: config.trustedProxies,
    checkReplies: config.checksReplies,
  };
}
