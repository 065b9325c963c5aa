import { resolve } from 'node:path';
import { controlPlaneVariables } from '@countersign/control-plane';
import { gatewayVariables } from '@countersign/gateway';
import { kernelVariables } from '@countersign/governance-kernel';
import { port, readConfig, secret, secretUrl, serviceVariables, type Environment } from '@countersign/service-kit';
import { z } from 'zod';

export const localVariables = z.object({
  GOV_DATA_DIR: z.string().default('.countersign').describe('Where data, keys and secrets live.'),
  GATEWAY_PORT: port(3100).describe('Port of the gateway.'),
  CONSOLE_PORT: port(3000).describe('Port that browsers come to: the console, and all that the gateway answers.'),
  CONTROL_PLANE_PORT: port(3200).describe('Port of the control plane.'),
  GOV_PORT: port(8080).describe('Port of the kernel.'),
  GOV_HEALTH_PORT: port(8081).describe("Port of the kernel's health and metrics alone."),
  DATABASE_URL: secretUrl(['postgres', 'postgresql'])
    .optional()
    .meta({ fallback: 'embedded PostgreSQL' })
    .describe('A role with CREATEROLE and CREATE; replaces the embedded PostgreSQL.'),
  AMQP_URL: secretUrl(['amqp', 'amqps'])
    .optional()
    .meta({ fallback: 'bus inside the process' })
    .describe('RabbitMQ; replaces the bus inside the process.'),
  GOV_ADMIN_API_KEY: secret().optional().meta({ fallback: 'generated once' }).describe('The operator key.'),
  GOV_SERVICE_API_KEY: secret()
    .optional()
    .meta({ fallback: 'generated once' })
    .describe('What sibling services present to each other.'),
  GOV_POLICY_FILE: z
    .string()
    .optional()
    .meta({ fallback: '`policy.yaml` in GOV_DATA_DIR, at first a copy of the starter policy' })
    .describe('The policy; edit it while the system runs.'),
});

export type LocalSettings = Readonly<{
  dataDir: string;
  gatewayPort: number;
  consolePort: number;
  controlPlanePort: number;
  kernelPort: number;
  healthPort: number;
  databaseUrl: string | null;
  amqpUrl: string | null;
  /** Under which the services name their queues. */
  exchange: string;
  /** Null: that of the data directory. */
  policyFile: string | null;
  adminApiKey: string | null;
  serviceApiKey: string | null;
  /** Which directory and ports were asked for by their variables, for a command that keeps them. */
  given: Readonly<Record<string, string>>;
  /** GOV_… variables of the person who starts it, for the service that knows them. */
  forKernel: Environment;
  forGateway: Environment;
  forControlPlane: Environment;
}>;

/** An earlier start wrote it into local.env, which people load into their shell. */
const loadedAgain = 'GOV_TRUSTED_PUBLIC_KEY';

/** What `make up` makes itself and hands to the services: given by a person it would be overruled in silence, so it is refused. */
const made = new Set([
  'GOV_GATEWAY_PORT',
  'GOV_GATEWAY_CONSOLE_PORT',
  'GOV_GATEWAY_URL',
  'GOV_CONTROL_PLANE_PORT',
  'GOV_CONTROL_PLANE_URL',
  'GOV_SESSION_SECRET',
  'GOV_GOVERNANCE_URL',
  'GOV_TRUSTED_PUBLIC_KEYS',
  'GOV_ASSERTION_KEY',
  'GOV_ASSERTION_KEYS',
  'GOV_SIGNING_KEY',
  'GOV_POLICY_KEY',
  'GOV_LOG_KEY',
  'GOV_TENANT_SALT_SECRET',
]);
const ownNames = new Set([...Object.keys(localVariables.shape), loadedAgain]);
const kernelNames = passedOn(kernelVariables);
const gatewayNames = passedOn(gatewayVariables);
const controlPlaneNames = passedOn(controlPlaneVariables);

function passedOn(schema: z.ZodObject): ReadonlySet<string> {
  return new Set(Object.keys(schema.shape).filter((name) => !ownNames.has(name) && !made.has(name)));
}

/** Reads what the profile itself needs; throws ConfigError naming all that is malformed. */
export function localSettings(env: Environment = process.env): LocalSettings {
  const knownElsewhere = [loadedAgain, ...kernelNames, ...gatewayNames, ...controlPlaneNames];
  const own = readConfig(localVariables, env, { prefix: 'GOV_', knownElsewhere });
  return Object.freeze({
    dataDir: resolve(own.GOV_DATA_DIR),
    gatewayPort: own.GATEWAY_PORT,
    consolePort: own.CONSOLE_PORT,
    controlPlanePort: own.CONTROL_PLANE_PORT,
    kernelPort: own.GOV_PORT,
    healthPort: own.GOV_HEALTH_PORT,
    databaseUrl: own.DATABASE_URL ?? null,
    amqpUrl: own.AMQP_URL ?? null,
    exchange: exchangeOf(env),
    policyFile: own.GOV_POLICY_FILE === undefined ? null : resolve(own.GOV_POLICY_FILE),
    adminApiKey: own.GOV_ADMIN_API_KEY ?? null,
    serviceApiKey: own.GOV_SERVICE_API_KEY ?? null,
    given: placesOf(env),
    forKernel: environmentOf(kernelNames, env),
    forGateway: environmentOf(gatewayNames, env),
    forControlPlane: environmentOf(controlPlaneNames, env),
  });
}

const places = [
  'GOV_DATA_DIR',
  'GATEWAY_PORT',
  'CONSOLE_PORT',
  'CONTROL_PLANE_PORT',
  'GOV_PORT',
  'GOV_HEALTH_PORT',
] as const;

function placesOf(env: Environment): Record<string, string> {
  return Object.fromEntries(places.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** The services read it too: under it they name their queues. */
function exchangeOf({ GOV_AMQP_EXCHANGE: given }: Environment): string {
  const shape = z.object({ GOV_AMQP_EXCHANGE: serviceVariables.GOV_AMQP_EXCHANGE });
  return readConfig(shape, { GOV_AMQP_EXCHANGE: given }, { prefix: 'GOV_' }).GOV_AMQP_EXCHANGE;
}

function environmentOf(names: ReadonlySet<string>, env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => names.has(name.replace(/_FILE$/, '')) || names.has(name)),
  );
}

/** The environment of PostgreSQL's own programs: ours, with messages and order of the C locale, so that they can be read. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' };
}

/** Ours without what configures Countersign: for a system that must not depend on the shell it is started from. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(GOV_|GATEWAY_|CONTROL_PLANE_|CONSOLE_|KERNEL_|DATABASE_URL$|AMQP_URL$|NODE_ENV$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
