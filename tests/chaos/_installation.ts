import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestDatabase } from '@countersign/database/testing';
import { removeTopology } from '@countersign/messaging/testing';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { createTcpProxy, type TcpProxy } from '@countersign/testkit/tcp-proxy';
import { patienceMs } from '@countersign/testkit/until';
import { newKeys, ofGateway, ofKernel, ownDatabases, throughProxy } from '../e2e/_environments.ts';
import type { Databases } from '../e2e/_environments.ts';
import type { Component } from './_part.ts';
import { gatewayPart, kernelPart } from './_parts.ts';
import { rowsOf } from './_rows.ts';

/**
 * The parts that can be killed or cut. The gateway `door` serves requests and works on no run, `worker` works on runs
 * and serves no request, and `both` does both.
 */
export const victims = [
  'door',
  'both',
  'worker',
  'worker that stands still',
  'kernel',
  'gateway sessions',
  'kernel sessions',
  'broker connections',
] as const;
export type Victim = (typeof victims)[number];

type Harm = { strike(): Promise<void> | void; mend(): Promise<void> | void };

/** Each process has one worker for each run, so that a single remaining process can continue all runs. */
const workersEach = '20';
/**
 * A worker that is frozen for longer than its lease loses its runs to others. Once resumed, it continues the work that
 * the freeze interrupted.
 */
const leaseMs = 3_000;
const frozenMs = 2 * leaseMs;
/**
 * A call whose answer was lost with the kernel is sealed as uncertain after GOV_DISPATCH_DEADLINE. The deadline must
 * exceed the sum of GOV_UPSTREAM_TIMEOUT, GOV_MCP_TIMEOUT and GOV_SEALING_TIMEOUT.
 */
const giveUpEarly = { GOV_SEALING_TIMEOUT: '8s', GOV_DISPATCH_DEADLINE: '17s' };
const logged = { GOV_LOG_LEVEL: 'warn' };
/** A call of a slow machine is not late. */
const patient = { GOV_GOVERNANCE_TIMEOUT: `${patienceMs}ms` };

export type Installation = {
  readonly databases: Databases;
  readonly model: ScriptedModel;
  readonly notes: NoteServer;
  readonly doorUrls: readonly string[];
  readonly kernelUrl: string;
  readonly adminApiKey: string;
  readonly harms: Record<Victim, Harm>;
  readonly broker: { url: string; queues: readonly string[] };
  /** Throws when a process ended without being killed. */
  assertLives(): void;
  stop(): Promise<void>;
};

export async function startInstallation(scratch: string): Promise<Installation> {
  const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
  const [databases, model, notes] = [await ownDatabases(), await startScriptedModel(), await startNoteServer()];
  const toBroker = await createTcpProxy({ host: new URL(amqpUrl).hostname, port: Number(new URL(amqpUrl).port) });
  const exchange = `countersign-test-${randomBytes(6).toString('hex')}`;
  const bus = { AMQP_URL: throughProxy(amqpUrl, toBroker), GOV_AMQP_EXCHANGE: exchange };
  const keys = newKeys();

  const kernel = await kernelPart({
    scratch,
    env: { ...ofKernel({ keys, databaseUrl: databases.kernel.url, model, notes }), ...bus, ...logged, ...giveUpEarly },
  });
  const kernelUrl = kernel.url;
  const env = {
    ...ofGateway({ keys, databaseUrl: databases.gateway.url, kernelUrl }),
    ...{ ...bus, ...logged, ...patient, GOV_RUN_LEASE: `${leaseMs}ms` },
  };
  const [door, both, worker] = [
    await gatewayPart({ name: 'door', scratch, env, workers: '0' }),
    await gatewayPart({ name: 'both', scratch, env, workers: workersEach }),
    await gatewayPart({ name: 'worker', scratch, env, workers: workersEach }),
  ];
  const components = [kernel.component, door.component, both.component, worker.component];
  const killAll = () => Promise.allSettled(components.map((component) => component.kill()));
  await Promise.all(components.map((component) => component.start())).catch(async (error: unknown) => {
    await killAll();
    throw error;
  });

  const names = ['gateway.runs', 'gateway.approvals', 'governance-kernel.fences', 'governance-kernel.members'];
  const queues = names.map((name) => `${exchange}.${name}`);
  return {
    ...{ databases, model, notes, kernelUrl, doorUrls: [door.url, both.url] },
    adminApiKey: keys.adminApiKey,
    harms: {
      door: killed(door.component),
      both: killed(both.component),
      worker: killed(worker.component),
      'worker that stands still': frozen(worker.component),
      kernel: killed(kernel.component),
      'gateway sessions': sessionsOf(databases.gateway),
      'kernel sessions': sessionsOf(databases.kernel),
      'broker connections': connectionsBy(toBroker),
    },
    broker: { url: amqpUrl, queues },
    assertLives: () => components.forEach((component) => component.assertLives()),
    stop: async () => {
      await killAll();
      await Promise.all([toBroker.close(), model.close(), notes.close()]);
      await removeTopology(amqpUrl, { exchange, queues });
      await Promise.all([databases.kernel.drop(), databases.gateway.drop()]);
    },
  };
}

function killed(component: Component): Harm {
  return { strike: () => component.kill(), mend: () => component.start() };
}

function frozen(component: Component): Harm {
  let thaw = (): void => undefined;
  return {
    strike: () => {
      thaw = component.freeze();
    },
    mend: async () => {
      await delay(frozenMs); // the time for which the process is frozen
      thaw();
    },
  };
}

/** PostgreSQL ends every session of the service, during any work. New sessions may start at once. */
function sessionsOf(database: TestDatabase): Harm {
  const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = $1`;
  return {
    strike: async () => void (await rowsOf(database, ended, [database.role])),
    mend: () => undefined,
  };
}

function connectionsBy(proxy: TcpProxy): Harm {
  return { strike: () => proxy.cut(), mend: () => proxy.restore() };
}
