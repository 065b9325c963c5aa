import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { port, readConfig, secret, secretUrl, serviceVariables, type Environment } from '@countersign/service-kit';
import { z } from 'zod';

const variables = z.object({
  GOV_DATA_DIR: z.string().default('.countersign'),
  GATEWAY_PORT: port(3100),
  GOV_PORT: port(8080),
  GOV_HEALTH_PORT: port(8081),
  /** A role with CREATEROLE and CREATE; replaces the embedded PostgreSQL. */
  DATABASE_URL: secretUrl(['postgres', 'postgresql']).optional(),
  /** Replaces the in-process bus. */
  AMQP_URL: secretUrl(['amqp', 'amqps']).optional(),
  /** Given: used instead of the generated ones. */
  GOV_ADMIN_API_KEY: secret().optional(),
  GOV_SERVICE_API_KEY: secret().optional(),
  GOV_POLICY_FILE: z.string().default(fileURLToPath(new URL('../policy/starter.yaml', import.meta.url))),
});

export type LocalSettings = Readonly<{
  dataDir: string;
  gatewayPort: number;
  kernelPort: number;
  healthPort: number;
  databaseUrl: string | null;
  amqpUrl: string | null;
  policyFile: string;
  adminApiKey: string | null;
  serviceApiKey: string | null;
  /** GOV_… variables of the person who starts it, for the service that knows them. */
  forKernel: Environment;
  forGateway: Environment;
}>;

/** Variables read above, and one that an earlier start wrote into local.env, which people load into their shell. */
const ownNames = new Set([...Object.keys(variables.shape), 'GOV_TRUSTED_PUBLIC_KEY']);

/** What the gateway knows and the kernel does not. Everything else goes to the kernel, which refuses what it does not know. */
const gatewayOnly =
  /^GOV_(GATEWAY|SESSION|SIGN_UP|SMTP|MAIL|RUN|MODEL(?!_PRICES|_SPEND)|GOVERNANCE|HEALTH_URL|FAIL_CLOSED|TRUSTED_PUBLIC)/;
/** What every service knows. */
const shared = new Set(Object.keys(serviceVariables));

/** Reads what the profile itself needs; throws ConfigError naming all that is malformed. */
export function localSettings(env: Environment = process.env): LocalSettings {
  const own = readConfig(variables, env, { prefix: 'GATEWAY_PORT' });
  const governance = Object.entries(env).filter(([name]) => name.startsWith('GOV_') && !ownNames.has(name));
  return Object.freeze({
    dataDir: resolve(own.GOV_DATA_DIR),
    gatewayPort: own.GATEWAY_PORT,
    kernelPort: own.GOV_PORT,
    healthPort: own.GOV_HEALTH_PORT,
    databaseUrl: own.DATABASE_URL ?? null,
    amqpUrl: own.AMQP_URL ?? null,
    policyFile: resolve(own.GOV_POLICY_FILE),
    adminApiKey: own.GOV_ADMIN_API_KEY ?? null,
    serviceApiKey: own.GOV_SERVICE_API_KEY ?? null,
    forKernel: Object.fromEntries(governance.filter(([name]) => !gatewayOnly.test(name))),
    forGateway: Object.fromEntries(governance.filter(([name]) => gatewayOnly.test(name) || shared.has(name))),
  });
}

/** The environment of PostgreSQL's own programs: ours, with messages and order of the C locale, so that they can be read. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' };
}

/** Ours without what configures Countersign: for a system that must not depend on the shell it is started from. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(GOV_|GATEWAY_|KERNEL_|DATABASE_URL$|AMQP_URL$|NODE_ENV$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
