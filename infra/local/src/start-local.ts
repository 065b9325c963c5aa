import { join } from 'node:path';
import { controlPlaneConfigFrom, startControlPlane } from '@countersign/control-plane';
import { gatewayConfigFrom, startGateway } from '@countersign/gateway';
import { kernelConfigFrom, startKernel } from '@countersign/governance-kernel';
import { createInProcessBus, openRabbitDeadLetters, reportTo, type InProcessBus } from '@countersign/messaging';
import { createLogger, problemText, type Lifecycle, type Log } from '@countersign/service-kit';
import { startScriptedModel } from '@countersign/testkit/scripted-model';
import { agentKey } from './agent-key.ts';
import type { LocalSettings } from './config.ts';
import { newSigningKey, openDataDir, publicKeyOf, writePrivate, type DataDir } from './data-dir.ts';
import { holdDataDir } from './hold-data-dir.ts';
import { LocalProblem } from './local-problem.ts';
import { withShippedServer } from './mcp-servers.ts';
import { ownPolicyFile } from './own-policy.ts';
import { withKernelLines } from './kernel-lines.ts';
import { assertPortsFree, freePort } from './ports.ts';
import { controlPlaneDefaults, gatewayDefaults, kernelDefaults } from './profile-defaults.ts';
import { serveSignInLink } from './sign-in-link.ts';
import { stdioUser } from './stdio-account.ts';
import { prepareDatabase, type ServiceUrls } from './prepare-database.ts';

export type LocalSystem = {
  gatewayUrl: string;
  consoleUrl: string;
  controlPlaneUrl: string;
  kernelUrl: string;
  healthUrl: string;
  /** Where model calls go, and whether that is the scripted model. */
  model: { url: string; isScripted: boolean };
  /** Signs its first visitor in. */
  signInUrl: string;
  dataDir: DataDir;
  policyFile: string;
};

type Parts = { lifecycle: Lifecycle; log: Log };

/**
 * Starts the whole system in this process: PostgreSQL, model, kernel, gateway. Everything started is registered with the lifecycle,
 * so that `lifecycle.stop()` ends it in reverse, also after a start that failed half-way. Throws LocalProblem for what the
 * person can mend.
 */
export async function startLocal(settings: LocalSettings, { lifecycle, log }: Parts): Promise<LocalSystem> {
  const dataDir = openDataDir(settings.dataDir, settings);
  const hold = holdDataDir(dataDir.path);
  lifecycle.onClose('data directory', hold.release);
  // Checked after the hold: a second start of the same system is told that it runs already, not that a port is taken.
  await assertPortsFree(portsOf(settings), settings.given);
  // They know each other's addresses before each of them stands.
  const gatewayPort = await portOf(settings.gatewayPort);
  const controlPlanePort = await portOf(settings.controlPlanePort);
  const consolePort = await portOf(settings.consolePort);
  const policyFile = settings.policyFile ?? ownPolicyFile(dataDir.path);
  const had = { settings, dataDir, assertions: newAssertionKeys(), gatewayPort, consolePort, controlPlanePort };
  assertConfigured({ ...had, policyFile });
  await assertBrokerAnswers(settings.amqpUrl);
  const given = { ...had, urls: await prepareDatabase(settings, dataDir, { lifecycle, log }) };
  const bus = sharedBus(settings, { lifecycle, log });
  const shared = { lifecycle, ...(bus ? { bus } : {}) };
  const model = await modelOf(settings, lifecycle);
  const kernelConfig = kernelConfigFrom(kernelEnvironment({ ...given, modelUrl: model.url, policyFile }));
  const kernelLog = createLogger({ service: 'governance-kernel', ...kernelConfig.log });
  const kernelLines = withKernelLines(kernelLog, (text) => void process.stdout.write(text));
  const kernel = await startKernel(kernelConfig, { ...shared, log: kernelLines });
  const beside = { ...given, kernelUrl: kernel.url };
  const gatewayConfig = gatewayConfigFrom(gatewayEnvironment(beside));
  const gateway = await startGateway(gatewayConfig, shared);
  const controlPlaneConfig = controlPlaneConfigFrom(controlPlaneEnvironment({ ...beside, gatewayUrl: gateway.url }));
  const controlPlane = await startControlPlane(controlPlaneConfig, shared);
  await Promise.all([gateway.subscribed, controlPlane.subscribed]);
  bus?.release();
  const link = await serveSignInLink({ gateway, controlPlane, consoleUrl: consoleUrlOf(given) });
  lifecycle.onClose('sign-in link', link.close);
  // Again, as the last that was registered: its queues stand in the databases of the services, which close with them.
  if (bus !== null) lifecycle.onClose('deliveries', () => bus.close());
  const system = {
    gatewayUrl: gateway.url,
    consoleUrl: consoleUrlOf(given),
    controlPlaneUrl: controlPlane.url,
    kernelUrl: kernel.url,
    healthUrl: kernel.healthUrl,
    signInUrl: link.url,
    model,
    dataDir,
    policyFile,
  };
  writeLocalEnvironment(system, await agentKey(kernel.url, dataDir));
  return system;
}

/** Reads what the services will be given, with addresses that are not known yet: a mistyped value ends the start before PostgreSQL begins. */
function assertConfigured(had: Omit<Given, 'urls'> & { policyFile: string }): void {
  const [anyDatabase, anywhere] = ['postgres://127.0.0.1/', 'http://127.0.0.1'];
  const urls = { kernel: anyDatabase, gateway: anyDatabase, controlPlane: anyDatabase };
  const modelUrl = had.settings.forKernel['GOV_UPSTREAM_URL'] || anywhere;
  const given = { ...had, urls, modelUrl, kernelUrl: anywhere, gatewayUrl: anywhere };
  kernelConfigFrom(kernelEnvironment(given));
  gatewayConfigFrom(gatewayEnvironment(given));
  controlPlaneConfigFrom(controlPlaneEnvironment(given));
}

/** A service waits for its broker and catches up. Whoever starts the whole system is told at once. */
async function assertBrokerAnswers(amqpUrl: string | null): Promise<void> {
  if (amqpUrl === null) return;
  const broker = await openRabbitDeadLetters(amqpUrl).catch((cause: unknown) => {
    throw new LocalProblem(
      `The broker of AMQP_URL does not answer: ${problemText(cause)}.`,
      'Start RabbitMQ, correct the address, or leave AMQP_URL out for the bus inside the process.',
    );
  });
  await broker.close();
}

/**
 * One bus for both services, held until both have declared their queues. With a broker each service opens its own connection.
 */
function sharedBus({ amqpUrl }: LocalSettings, { lifecycle, log }: Parts): InProcessBus | null {
  if (amqpUrl !== null) return null;
  const bus = createInProcessBus({ held: true, report: reportTo(log) });
  lifecycle.onClose('bus', () => bus.close());
  return bus;
}

async function modelOf({ forKernel }: LocalSettings, lifecycle: Lifecycle): Promise<LocalSystem['model']> {
  const url = forKernel['GOV_UPSTREAM_URL'];
  if (url) return { url, isScripted: false };
  const scripted = await startScriptedModel();
  lifecycle.onClose('scripted model', () => scripted.close());
  return { url: scripted.url, isScripted: true };
}

function portsOf(settings: LocalSettings) {
  return [
    { variable: 'GATEWAY_PORT', port: settings.gatewayPort },
    { variable: 'CONSOLE_PORT', port: settings.consolePort },
    { variable: 'CONTROL_PLANE_PORT', port: settings.controlPlanePort },
    { variable: 'GOV_PORT', port: settings.kernelPort },
    { variable: 'GOV_HEALTH_PORT', port: settings.healthPort },
  ];
}

async function portOf(configured: number): Promise<number> {
  return configured === 0 ? await freePort() : configured;
}

/** Browsers have no passkeys at an IP address. */
function consoleUrlOf({ consolePort }: Given): string {
  return `http://localhost:${consolePort}`;
}

type AssertionKeys = { privateKey: string; publicKey: string };

/** Both services start and end together, so the gateway's key need not outlive them. */
function newAssertionKeys(): AssertionKeys {
  const privateKey = newSigningKey();
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}

type Given = {
  settings: LocalSettings;
  dataDir: DataDir;
  urls: ServiceUrls;
  assertions: AssertionKeys;
  gatewayPort: number;
  consolePort: number;
  controlPlanePort: number;
};
type KernelGiven = Given & { modelUrl: string; policyFile: string };

function kernelEnvironment(given: KernelGiven) {
  const { settings, dataDir, urls, modelUrl, policyFile, assertions } = given;
  const { secrets, filesDir } = dataDir;
  const { GOV_MCP_SERVERS: servers, GOV_MCP_STDIO_USER: user, ...more } = settings.forKernel;
  return {
    ...kernelDefaults,
    GOV_CONSOLE_URL: consoleUrlOf(given),
    ...more,
    GOV_MCP_SERVERS: withShippedServer(filesDir, servers),
    GOV_MCP_STDIO_USER: stdioUser(filesDir, user),
    ...(settings.amqpUrl === null ? {} : { AMQP_URL: settings.amqpUrl }),
    DATABASE_URL: urls.kernel,
    GOV_PORT: String(settings.kernelPort),
    GOV_HEALTH_PORT: String(settings.healthPort),
    GOV_ADMIN_API_KEY: secrets.adminApiKey,
    GOV_SERVICE_API_KEY: secrets.serviceApiKey,
    GOV_ASSERTION_KEYS: assertions.publicKey,
    GOV_SIGNING_KEY: secrets.signingKey,
    GOV_POLICY_KEY: secrets.policyKey,
    GOV_LOG_KEY: secrets.logKey,
    GOV_TENANT_SALT_SECRET: secrets.tenantSaltSecret,
    GOV_POLICY_FILE: policyFile,
    GOV_UPSTREAM_URL: modelUrl,
  };
}

type GatewayGiven = Given & { kernelUrl: string };
type ConsoleGiven = GatewayGiven & { gatewayUrl: string };

function gatewayEnvironment(given: GatewayGiven) {
  const { settings, dataDir, urls, kernelUrl, assertions, gatewayPort, consolePort, controlPlanePort } = given;
  const { secrets, trustedPublicKey } = dataDir;
  return {
    ...gatewayDefaults,
    ...settings.forGateway,
    ...(settings.amqpUrl === null ? {} : { AMQP_URL: settings.amqpUrl }),
    DATABASE_URL: urls.gateway,
    GOV_GATEWAY_PORT: String(gatewayPort),
    GOV_GATEWAY_CONSOLE_PORT: String(consolePort),
    GOV_SESSION_SECRET: secrets.sessionSecret,
    GOV_GOVERNANCE_URL: kernelUrl,
    GOV_CONTROL_PLANE_URL: `http://127.0.0.1:${controlPlanePort}`,
    GOV_ASSERTION_KEY: assertions.privateKey,
    GOV_SERVICE_API_KEY: secrets.serviceApiKey,
    GOV_TRUSTED_PUBLIC_KEYS: trustedPublicKey,
  };
}

function controlPlaneEnvironment(given: ConsoleGiven) {
  const { settings, dataDir, urls, gatewayUrl, kernelUrl, assertions, controlPlanePort } = given;
  const { secrets, trustedPublicKey } = dataDir;
  return {
    ...controlPlaneDefaults,
    GOV_CONSOLE_URL: consoleUrlOf(given),
    ...settings.forControlPlane,
    ...(settings.amqpUrl === null ? {} : { AMQP_URL: settings.amqpUrl }),
    DATABASE_URL: urls.controlPlane,
    GOV_CONTROL_PLANE_PORT: String(controlPlanePort),
    // The gateway, and nobody else, tells it where a caller sits.
    GOV_TRUSTED_PROXIES: '1',
    GOV_GATEWAY_URL: gatewayUrl,
    GOV_GOVERNANCE_URL: kernelUrl,
    GOV_SERVICE_API_KEY: secrets.serviceApiKey,
    GOV_ASSERTION_KEYS: assertions.publicKey,
    GOV_TRUSTED_PUBLIC_KEYS: trustedPublicKey,
    GOV_SESSION_SECRET: secrets.consoleSecret,
  };
}

/** For other programs on this machine: `set -a; . .countersign/local.env`. */
function writeLocalEnvironment(system: LocalSystem, key: string): void {
  const { gatewayUrl, consoleUrl, controlPlaneUrl, kernelUrl, signInUrl, dataDir } = system;
  const { path, secrets, trustedPublicKey } = dataDir;
  const values = {
    GATEWAY_URL: gatewayUrl,
    CONSOLE_URL: consoleUrl,
    CONTROL_PLANE_URL: controlPlaneUrl,
    KERNEL_URL: kernelUrl,
    AGENT_KEY: key,
    SIGN_IN_URL: signInUrl,
    GOV_ADMIN_API_KEY: secrets.adminApiKey,
    GOV_SERVICE_API_KEY: secrets.serviceApiKey,
    GOV_TRUSTED_PUBLIC_KEY: trustedPublicKey,
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  writePrivate(join(path, 'local.env'), lines.join(''));
}
