import { resolve } from 'node:path';
import { port, readConfig, secret, secretUrl, serviceVariables, type Environment } from '@countersign/service-kit';
import { prefixOf, serviceNames, services, type ServiceName } from '@countersign/services';
import { z } from 'zod';
import { localServices } from './local-services.ts';

type PortVariable = (typeof services)[number]['portVariable'];

const servicePorts = Object.fromEntries(
  services.map(({ portVariable, title, ports }) => [portVariable, port(ports.main).describe(`Port of the ${title}.`)]),
) as Record<PortVariable, ReturnType<typeof port>>; // one for each row of the register

export const localVariables = z.object({
  GOV_DATA_DIR: z.string().default('.countersign').describe('Directory of data, keys and secrets.'),
  ...servicePorts,
  CONSOLE_PORT: port(3000).describe('Port for browsers. It serves the console and all routes of the gateway.'),
  GOV_HEALTH_PORT: port(8081).describe("Separate port for the kernel's health and metrics."),
  DATABASE_URL: secretUrl(['postgres', 'postgresql'])
    .optional()
    .meta({ fallback: 'embedded PostgreSQL' })
    .describe('Address of a PostgreSQL server that replaces the embedded one. The role needs CREATEROLE and CREATE.'),
  AMQP_URL: secretUrl(['amqp', 'amqps'])
    .optional()
    .meta({ fallback: 'in-process bus' })
    .describe('Address of RabbitMQ, which replaces the in-process bus.'),
  GOV_ADMIN_API_KEY: secret().optional().meta({ fallback: 'generated once' }).describe('The operator key.'),
  GOV_SERVICE_API_KEY: secret()
    .optional()
    .meta({ fallback: 'generated once' })
    .describe('Key that sibling services present to each other.'),
  GOV_POLICY_FILE: z
    .string()
    .optional()
    .meta({ fallback: '`policy.yaml` in GOV_DATA_DIR, at first a copy of the starter policy' })
    .describe('The policy file. You can edit it while the system runs.'),
});

export type LocalSettings = Readonly<{
  dataDir: string;
  /** Main port of each service. */
  ports: Readonly<Record<ServiceName, number>>;
  consolePort: number;
  /** Health port of the kernel. */
  healthPort: number;
  databaseUrl: string | null;
  amqpUrl: string | null;
  /** Prefix of the services' queues. */
  exchange: string;
  /** `null` when the policy of the data directory is used. */
  policyFile: string | null;
  adminApiKey: string | null;
  serviceApiKey: string | null;
  /** The variables for the data directory and for ports that the user set. Suggested commands repeat them. */
  overrides: Readonly<Record<string, string>>;
  /** GOV_… variables from the environment of `make up`, by the service that reads them. */
  passedOn: Readonly<Record<ServiceName, Environment>>;
}>;

/** A variable that an earlier start wrote into local.env, which people load into their shells. */
const loadedAgain = 'GOV_TRUSTED_PUBLIC_KEY';

const ownNames = new Set([...Object.keys(localVariables.shape), loadedAgain]);
const refused = new Set<string>(Object.values(localServices).flatMap(({ environment }) => environment.refused));

/** The variables of a service that `make up` passes on. */
function passedOnTo(name: ServiceName): ReadonlySet<string> {
  const names = Object.keys(localServices[name].variables.shape);
  return new Set(names.filter((each) => !ownNames.has(each) && !refused.has(each)));
}

/** Reads the variables of this profile. Throws ConfigError with the names of all malformed ones. */
export function localSettings(env: Environment = process.env): LocalSettings {
  const knownElsewhere = [loadedAgain, ...serviceNames.flatMap((name) => [...passedOnTo(name)])];
  const own = readConfig(localVariables, env, { prefix: 'GOV_', knownElsewhere });
  return Object.freeze({
    dataDir: resolve(own.GOV_DATA_DIR),
    ports: byService(({ portVariable }) => own[portVariable]),
    consolePort: own.CONSOLE_PORT,
    healthPort: own.GOV_HEALTH_PORT,
    databaseUrl: own.DATABASE_URL ?? null,
    amqpUrl: own.AMQP_URL ?? null,
    exchange: exchangeOf(env),
    policyFile: own.GOV_POLICY_FILE === undefined ? null : resolve(own.GOV_POLICY_FILE),
    adminApiKey: own.GOV_ADMIN_API_KEY ?? null,
    serviceApiKey: own.GOV_SERVICE_API_KEY ?? null,
    overrides: placesOf(env),
    passedOn: byService(({ name }) => environmentOf(passedOnTo(name), env)),
  });
}

/** Variables of ports, in the order in which `make up` names them. */
export const portVariables = [
  ...services.map(({ portVariable }) => portVariable),
  'CONSOLE_PORT',
  'GOV_HEALTH_PORT',
] as const;

const places = ['GOV_DATA_DIR', ...portVariables] as const;

function placesOf(env: Environment): Record<string, string> {
  return Object.fromEntries(places.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

function byService<Value>(valueOf: (row: (typeof services)[number]) => Value): Record<ServiceName, Value> {
  return Object.fromEntries(services.map((row) => [row.name, valueOf(row)])) as Record<ServiceName, Value>; // one for each row
}

/** The services read this variable too, and name their queues by it. */
function exchangeOf({ GOV_AMQP_EXCHANGE: input }: Environment): string {
  const shape = z.object({ GOV_AMQP_EXCHANGE: serviceVariables.GOV_AMQP_EXCHANGE });
  return readConfig(shape, { GOV_AMQP_EXCHANGE: input }, { prefix: 'GOV_' }).GOV_AMQP_EXCHANGE;
}

function environmentOf(names: ReadonlySet<string>, env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => names.has(name.replace(/_FILE$/, '')) || names.has(name)),
  );
}

/**
 * The environment of PostgreSQL's programs: the current one with the C locale, so that their messages can be parsed.
 */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' };
}

/** The current environment without variables of Countersign, for a system that must not depend on the shell. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const prefixes = services.map((row) => `${prefixOf(row)}_`).join('|');
  const ours = new RegExp(`^(GOV_|${prefixes}|CONSOLE_|DATABASE_URL$|AMQP_URL$|NODE_ENV$)`);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
