import { join } from 'node:path';
import { createInProcessBus, openRabbitDeadLetters, reportTo, type InProcessBus } from '@countersign/messaging';
import { problemText, type Environment, type Lifecycle, type Log } from '@countersign/service-kit';
import { prefixOf, serviceNames, services, type ServiceName } from '@countersign/services';
import { startScriptedModel } from '@countersign/testkit/scripted-model';
import { agentKey } from './agent-key.ts';
import type { LocalSettings } from './config.ts';
import { newSigningKey, openDataDir, publicKeyOf, writePrivate, type DataDir } from './data-dir.ts';
import { holdDataDir } from './hold-data-dir.ts';
import type { Installation, LocalEnvironment } from './local-environment.ts';
import { LocalProblem } from './local-problem.ts';
import { localServices, type StartedServices } from './local-services.ts';
import { ownCatalogue } from './own-catalogue.ts';
import { ownPolicyFile } from './own-policy.ts';
import { assertPortsFree, freePort } from './ports.ts';
import { serveSignInLink } from './sign-in-link.ts';
import { prepareDatabase } from './prepare-database.ts';

export type LocalSystem = {
  /** Address of each service. */
  urls: Readonly<Record<ServiceName, string>>;
  consoleUrl: string;
  /** Health port of the kernel. */
  healthUrl: string;
  /** Address of the model server, and whether it is the scripted model. */
  model: { url: string; isScripted: boolean };
  /** The address that signs in its first visitor. */
  signInUrl: string;
  dataDir: DataDir;
  policyFile: string;
};

type Deps = { lifecycle: Lifecycle; log: Log };

/**
 * Starts the whole system in this process: PostgreSQL, the model, and all services of the register. Everything is
 * registered with the lifecycle, so `lifecycle.stop()` ends it in reverse order, also after a failed start. Throws
 * LocalProblem for problems that the user can fix.
 */
export async function startLocal(settings: LocalSettings, { lifecycle, log }: Deps): Promise<LocalSystem> {
  const dataDir = openDataDir(settings.dataDir, settings);
  const hold = holdDataDir(dataDir.path);
  lifecycle.onClose('data directory', hold.release);
  // The ports are checked after the hold of the data directory. A second start then reports the running system, not a
  // taken port.
  await assertPortsFree(portsOf(settings), settings.overrides);
  const planned = await planInstallation(settings, dataDir);
  assertConfigured(settings, planned);
  await assertBrokerAnswers(settings.amqpUrl);
  const databaseUrls = await prepareDatabase(settings, dataDir, { lifecycle, log });
  const bus = sharedBus(settings, { lifecycle, log });
  const model = await modelOf(settings, lifecycle);
  const installation = { ...planned, databaseUrls, modelUrl: model.url };
  const started = await startServices(settings, installation, { lifecycle, ...(bus ? { bus } : {}) });
  await Promise.all(Object.values(started).map(({ subscribed }) => subscribed));
  bus?.release();
  const { consoleUrl } = installation;
  const link = await serveSignInLink({ gateway: started.gateway, controlPlane: started['control-plane'], consoleUrl });
  lifecycle.onClose('sign-in link', link.close);
  // The bus is registered again as the last resource, so that it closes first. Its queues are in the databases, which
  // close with the services.
  if (bus !== null) lifecycle.onClose('deliveries', () => bus.close());
  const kernel = started['governance-kernel'];
  const system = {
    urls: urlsOf(started),
    consoleUrl,
    healthUrl: kernel.healthUrl,
    signInUrl: link.url,
    model,
    dataDir,
    policyFile: installation.policyFile,
  };
  writeLocalEnvironment(system, await agentKey(kernel.url, dataDir));
  return system;
}

type Planned = Omit<Installation, 'databaseUrls' | 'modelUrl'>;

/** Plans the addresses first, because the services need each other's before they run. */
async function planInstallation(settings: LocalSettings, dataDir: DataDir): Promise<Planned> {
  const ports = { ...settings.ports };
  for (const name of serviceNames) ports[name] = await portOf(settings.ports[name]);
  const consolePort = await portOf(settings.consolePort);
  const urls = Object.entries(ports).map(([name, port]) => [name, `http://127.0.0.1:${port}`]);
  return {
    dataDir,
    ports,
    urls: Object.fromEntries(urls) as Installation['urls'], // the names of `ports`
    healthPort: settings.healthPort,
    consolePort,
    // Browsers support no passkeys for IP addresses.
    consoleUrl: `http://localhost:${consolePort}`,
    assertions: newAssertionKeys(),
    catalogue: ownCatalogue(dataDir.path),
    policyFile: settings.policyFile ?? ownPolicyFile(dataDir.path),
  };
}

/**
 * Validates the environments of all services with placeholder addresses. An invalid value ends the start before
 * PostgreSQL begins.
 */
function assertConfigured(settings: LocalSettings, planned: Planned): void {
  const databaseUrls = Object.fromEntries(serviceNames.map((name) => [name, 'postgres://127.0.0.1/']));
  const modelUrl = settings.passedOn['governance-kernel']['GOV_UPSTREAM_URL'] || 'http://127.0.0.1';
  const installation = { ...planned, databaseUrls: databaseUrls as Installation['databaseUrls'], modelUrl }; // all names
  for (const name of serviceNames) localServices[name].configFrom(environmentOf(name, settings, installation));
}

type Shared = Parameters<(typeof localServices)['gateway']['start']>[1];

/** Starts the services one after the other, in the order of the register. */
async function startServices(settings: LocalSettings, planned: Installation, shared: Shared): Promise<StartedServices> {
  const started: Partial<Record<ServiceName, StartedServices[ServiceName]>> = {};
  for (const name of serviceNames) {
    const installation = { ...planned, urls: { ...planned.urls, ...urlsOf(started) } };
    started[name] = await localServices[name].start(environmentOf(name, settings, installation), shared);
  }
  return started as StartedServices; // the loop sets every name
}

function urlsOf(started: Partial<Record<ServiceName, { url: string }>>): Record<ServiceName, string> {
  const urls = Object.entries(started).map(([name, { url }]) => [name, url]);
  return Object.fromEntries(urls) as Record<ServiceName, string>; // its keys are the names of the started services
}

/**
 * Merges the defaults of a service, the variables that `make up` got, and those that it sets itself. Later values win.
 */
function environmentOf(
  name: ServiceName,
  { passedOn, amqpUrl }: LocalSettings,
  installation: Installation,
): Environment {
  const environment: LocalEnvironment = localServices[name].environment;
  return {
    ...environment.defaults,
    ...environment.also?.(installation),
    ...passedOn[name],
    ...environment.made(installation, passedOn[name]),
    ...(amqpUrl === null ? {} : { AMQP_URL: amqpUrl }),
    DATABASE_URL: installation.databaseUrls[name],
  };
}

/**
 * Checks the broker before the services start, because a service waits for its broker instead of failing. The user must
 * see the failure at once.
 */
async function assertBrokerAnswers(amqpUrl: string | null): Promise<void> {
  if (amqpUrl === null) return;
  const broker = await openRabbitDeadLetters(amqpUrl).catch((cause: unknown) => {
    throw new LocalProblem(
      `The broker of AMQP_URL does not answer: ${problemText(cause)}.`,
      'Start RabbitMQ, correct the address, or unset AMQP_URL to use the in-process bus.',
    );
  });
  await broker.close();
}

/**
 * One bus for all services, paused until all have declared their queues. With a broker, each service opens its own
 * connection.
 */
function sharedBus({ amqpUrl }: LocalSettings, { lifecycle, log }: Deps): InProcessBus | null {
  if (amqpUrl !== null) return null;
  const bus = createInProcessBus({ paused: true, report: reportTo(log) });
  lifecycle.onClose('bus', () => bus.close());
  return bus;
}

async function modelOf({ passedOn }: LocalSettings, lifecycle: Lifecycle): Promise<LocalSystem['model']> {
  const url = passedOn['governance-kernel']['GOV_UPSTREAM_URL'];
  if (url) return { url, isScripted: false };
  const scripted = await startScriptedModel();
  lifecycle.onClose('scripted model', () => scripted.close());
  return { url: scripted.url, isScripted: true };
}

function portsOf({ ports, consolePort, healthPort }: LocalSettings) {
  return [
    ...services.map(({ name, portVariable }) => ({ variable: portVariable, port: ports[name] })),
    { variable: 'CONSOLE_PORT', port: consolePort },
    { variable: 'GOV_HEALTH_PORT', port: healthPort },
  ];
}

async function portOf(configured: number): Promise<number> {
  return configured === 0 ? await freePort() : configured;
}

function newAssertionKeys(): Installation['assertions'] {
  const privateKey = newSigningKey();
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}

/** Writes variables for other programs on this computer: `set -a; . .countersign/local.env`. */
function writeLocalEnvironment(system: LocalSystem, key: string): void {
  const { urls, consoleUrl, signInUrl, dataDir } = system;
  const { path, secrets, trustedPublicKey } = dataDir;
  const values = {
    ...Object.fromEntries(services.map((row) => [`${prefixOf(row)}_URL`, urls[row.name]])),
    CONSOLE_URL: consoleUrl,
    AGENT_KEY: key,
    SIGN_IN_URL: signInUrl,
    GOV_ADMIN_API_KEY: secrets.adminApiKey,
    GOV_SERVICE_API_KEY: secrets.serviceApiKey,
    GOV_TRUSTED_PUBLIC_KEY: trustedPublicKey,
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  writePrivate(join(path, 'local.env'), lines.join(''));
}
