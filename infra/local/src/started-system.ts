import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { plainEnvironment, portVariables } from './config.ts';
import { freePort } from './ports.ts';

export type StartedSystem = {
  gatewayUrl: string;
  consoleUrl: string;
  controlPlaneUrl: string;
  commercialUrl: string;
  kernelUrl: string;
  adminApiKey: string;
  serviceApiKey: string;
  filesDir: string;
  /** The lines of terminal output until now. */
  lines: readonly string[];
  /** Stops the system like Ctrl-C: drains, stops PostgreSQL, and waits for the end. */
  stop(): Promise<void>;
  /** Kills the process without a clean stop. Its PostgreSQL server keeps running. */
  kill(): Promise<void>;
};

/** A first start on a slow machine unpacks a database cluster and applies migrations. */
const readyTimeoutMs = 120_000;
const mainUp = fileURLToPath(new URL('../dist/main-up.js', import.meta.url));

/** Maximum number of starts when other processes take the ports before they are opened. */
const startsMax = 3;

type StartOptions = {
  dataDir: string;
  variables?: Record<string, string>;
  choosePort?: () => Promise<number>;
  /** Flags of Node. Default: the flags of this process. */
  nodeArgs?: readonly string[];
};

/**
 * Starts `make up` as a separate process on free ports, without the caller's variables of Countersign. If another
 * process takes a port before it is opened, `make up` is started again on other ports, up to `startsMax` starts.
 */
export async function startSystem(options: StartOptions): Promise<StartedSystem> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (starts === startsMax || !wasPortTaken(error)) throw error;
    }
  }
}

function wasPortTaken(error: unknown): boolean {
  return error instanceof Error && /EADDRINUSE|Ports? [\d, ]+ (?:is|are) taken/.test(error.message);
}

async function startOnce(options: StartOptions): Promise<StartedSystem> {
  const { dataDir, variables = {}, choosePort = freePort, nodeArgs = process.execArgv } = options;
  const ports: Record<string, string> = {};
  for (const variable of portVariables) ports[variable] = String(await choosePort());
  const env = { ...plainEnvironment(), GOV_DATA_DIR: dataDir, ...ports, ...variables };
  const child = spawn(process.execPath, [...nodeArgs, mainUp], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = await untilReady(child);
  const local = readLocalEnvironment(join(dataDir, 'local.env'));
  return {
    gatewayUrl: local['GATEWAY_URL'] ?? '',
    consoleUrl: local['CONSOLE_URL'] ?? '',
    controlPlaneUrl: local['CONTROL_PLANE_URL'] ?? '',
    commercialUrl: local['COMMERCIAL_URL'] ?? '',
    kernelUrl: local['KERNEL_URL'] ?? '',
    adminApiKey: local['GOV_ADMIN_API_KEY'] ?? '',
    serviceApiKey: local['GOV_SERVICE_API_KEY'] ?? '',
    filesDir: join(dataDir, 'files'),
    lines,
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  };
}

async function untilReady(child: ChildProcess): Promise<readonly string[]> {
  const lines: string[] = [];
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new TypeError('The child has no output');
  createInterface({ input: stderr }).on('line', (line) => lines.push(line));
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (line) => {
      lines.push(line);
      if (line === 'countersign ready') resolve();
    });
    child.once('exit', () => reject(new Error(`The system did not start:\n${lines.join('\n')}`)));
    setTimeout(
      () => reject(new Error(`The system was not ready in time:\n${lines.join('\n')}`)),
      readyTimeoutMs,
    ).unref();
  });
  await ready.catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return lines;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

function readLocalEnvironment(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes('='));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}
