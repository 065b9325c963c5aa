import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { openCluster } from './cluster-directory.ts';
import type { Cluster } from './cluster-directory.ts';
import { postgresEnvironment } from './config.ts';
import { freePort } from './ports.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { clearStaleServer, forgetOwner, recordOwner } from './running-server.ts';
import { serverAccount } from './server-account.ts';
import type { ServerAccount } from './server-account.ts';

// A start may include a recovery. It replays only the log since the last checkpoint.
const startTimeoutMs = 60_000;
const fastShutdownMs = 20_000;
// A start is repeated in two cases: child processes of a killed server still run, or another program took the port.
const startAttemptsMax = 5;
const retryDelayMs = 500;
const passingFailures = ['pre-existing shared memory block', 'could not create any TCP/IP sockets'];
const readyLine = 'database system is ready to accept connections';

interface EmbeddedPostgresOptions {
  /** Persistent directory, created when missing. */
  dataDir: string;
  /** 0 or absent: any free port. */
  port?: number;
  /** `false` only for a server with disposable data, which then never waits for the disk. Default `true`. */
  durable?: boolean;
  log: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** URL of the database `postgres` for its superuser, on 127.0.0.1 only. */
  readonly adminUrl: string;
  /** Closes open connections, writes a checkpoint and waits until the server has ended. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts our own PostgreSQL server on the cluster in `dataDir`. Commits are durable, unless `durable` is false or the
 * configuration of the cluster disables fsync. Recovers a cluster after its server or its starting process was killed.
 * Throws when another running server uses the directory.
 */
export async function startEmbeddedPostgres({
  dataDir,
  port = 0,
  durable = true,
  log,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const account = serverAccount();
  const binDir = findPostgresBinaries(account);
  const cluster = openCluster({ dataDir, binDir, account, log });
  await clearStaleServer(cluster, log);
  // Recorded before the launch, so that a server always has a recorded owner, even if this process is killed.
  recordOwner(cluster);
  for (let attempt = 1; ; attempt += 1) {
    const chosenPort = port === 0 ? await freePort() : port;
    const server = launch({ cluster, binDir, account, port: chosenPort, durable, log });
    const failure = await server.ready;
    if (failure === undefined) {
      const adminUrl = `postgres://postgres:${cluster.password}@127.0.0.1:${chosenPort}/postgres`;
      return { adminUrl, stop: () => stopServer(server.child, cluster) };
    }
    const passing = passingFailures.some((existing) => failure.includes(existing));
    if (!passing || attempt === startAttemptsMax)
      throw new Error(`PostgreSQL did not start on port ${chosenPort}: ${failure}`);
    await delay(retryDelayMs);
  }
}

interface LaunchOptions {
  cluster: Cluster;
  binDir: string;
  account: ServerAccount | undefined;
  port: number;
  durable: boolean;
  log: (line: string) => void;
}

/** `ready` resolves with undefined when the server accepts connections, or with a text that states why it does not. */
function launch({ cluster, binDir, account, port, durable, log }: LaunchOptions): {
  child: ChildProcess;
  ready: Promise<string | undefined>;
} {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'synchronous_commit=on',
    ...(durable ? [] : ['fsync=off', 'full_page_writes=off']),
    'logging_collector=off',
    'log_destination=stderr',
  ].flatMap((setting) => ['-c', setting]);
  const child = spawn(join(binDir, 'postgres'), ['-D', cluster.dataDir, '-p', String(port), ...settings], {
    ...account,
    cwd: cluster.dataDir,
    env: postgresEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    // A separate process group, so that Ctrl-C reaches only the services. They stop the server after themselves.
    detached: true,
  });
  const onProcessExit = (): void => void child.kill('SIGINT');
  process.once('exit', onProcessExit);
  child.once('exit', () => process.off('exit', onProcessExit));
  return { child, ready: watchStart(child, log) };
}

function watchStart(child: ChildProcess, log: (line: string) => void): Promise<string | undefined> {
  return new Promise((resolve) => {
    const lines: string[] = [];
    let starting = true;
    const finish = (outcome: string | undefined): void => {
      starting = false;
      clearTimeout(timer);
      resolve(outcome);
    };
    const timer = setTimeout(() => {
      child.kill('SIGQUIT');
      finish(`not ready within ${startTimeoutMs} ms`);
    }, startTimeoutMs);
    child.once('error', (error) => finish(error.message));
    child.once('close', () => finish(lines.join('\n')));
    if (child.stderr === null) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      log(line);
      if (starting) lines.push(line);
      if (line.includes(readyLine)) finish(undefined);
    });
  });
}

async function stopServer(child: ChildProcess, cluster: Cluster): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    const slow = setTimeout(() => child.kill('SIGQUIT'), fastShutdownMs);
    await ended;
    clearTimeout(slow);
  }
  forgetOwner(cluster);
}
