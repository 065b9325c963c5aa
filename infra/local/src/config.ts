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
  GOV_DATA_DIR: z.string().default('.countersign').describe('Where data, keys and secrets live.'),
  ...servicePorts,
  CONSOLE_PORT: port(3000).describe('Port that browsers come to: the console, and all that the gateway answers.'),
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
    .describe('Key that sibling services present to each other.'),
  GOV_POLICY_FILE: z
    .string()
    .optional()
    .meta({ fallback: '`policy.yaml` in GOV_DATA_DIR, at first a copy of the starter policy' })
    .describe('The policy; edit it while the system runs.'),
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
  /** Under which the services name their queues. */
  exchange: string;
  /** Null: that of the data directory. */
  policyFile: string | null;
  adminApiKey: string | null;
  serviceApiKey: string | null;
  /** Which directory and ports were asked for by their variables, for a command that keeps them. */
  given: Readonly<Record<string, string>>;
  /** GOV_… variables of the person who starts it, by the service that reads them. */
  passedOn: Readonly<Record<ServiceName, Environment>>;
}>;

/** An earlier start wrote it into local.env, which people load into their shell. */
const loadedAgain = 'GOV_TRUSTED_PUBLIC_KEY';

const ownNames = new Set([...Object.keys(localVariables.shape), loadedAgain]);
const refused = new Set<string>(Object.values(localServices).flatMap(({ environment }) => environment.refused));

/** The variables of a service that `make up` passes on. */
function passedOnTo(name: ServiceName): ReadonlySet<string> {
  const names = Object.keys(localServices[name].variables.shape);
  return new Set(names.filter((each) => !ownNames.has(each) && !refused.has(each)));
}

/** Reads what the profile itself needs; throws ConfigError naming all that is malformed. */
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
    given: placesOf(env),
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
  const prefixes = services.map((row) => `${prefixOf(row)}_`).join('|');
  const ours = new RegExp(`^(GOV_|${prefixes}|CONSOLE_|DATABASE_URL$|AMQP_URL$|NODE_ENV$)`);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
