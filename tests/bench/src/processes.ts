import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const services = {
  'governance-kernel': { port: 'GOV_PORT', healthPort: 'GOV_HEALTH_PORT' },
  gateway: { port: 'GOV_GATEWAY_PORT', healthPort: 'GOV_GATEWAY_HEALTH_PORT' },
  'commercial-gateway': { port: 'GOV_COMMERCIAL_PORT', healthPort: 'GOV_COMMERCIAL_HEALTH_PORT' },
} as const;
const profilerPreload = new URL('processes/profile-on-demand.js', import.meta.url).href;
const startTimeoutMs = 30_000;
const stopTimeoutMs = 15_000;
const pollMs = 50;

export type Running = { url: string; pid: number; child: ChildProcess; stop(): Promise<void> };

/** Starts one file of ./processes and waits until it reports that it is ready. */
export async function startProcess(name: string, args: string[] = []): Promise<Running> {
  const file = fileURLToPath(new URL(`processes/${name}.js`, import.meta.url));
  const child = fork(file, args, { env: { ...process.env, NODE_ENV: 'production' } });
  const [message] = (await Promise.race([once(child, 'message'), failedStart(child, name)])) as [{ url: string }]; // the first message of our own files
  return { url: message.url, pid: pidOf(child), child, stop: () => stop(child, 'SIGKILL') };
}

/** The build of this checkout. */
export const ownBuild = fileURLToPath(new URL('../../..', import.meta.url));

/** Starts a service as users run it: one process from a build, configured by its environment alone. */
export async function startService(
  name: keyof typeof services,
  env: Record<string, string>,
  build = ownBuild,
): Promise<Running> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const main = join(build, `services/${name}/dist/main.js`);
  const ports = { [services[name].port]: String(port), [services[name].healthPort]: String(healthPort) };
  const child = fork(main, [], {
    execArgv: [...process.execArgv, '--import', profilerPreload],
    env: { PATH: process.env.PATH, ...env, ...ports },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await Promise.race([untilReady(`http://127.0.0.1:${healthPort}/health/ready`), failedStart(child, name)]);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: pidOf(child),
    child,
    stop: () => stop(child, 'SIGTERM'),
  };
}

/** Sends one message to a process of the bench and waits for its one answer. */
export async function ask<Answer>({ child }: Pick<Running, 'child'>, question: object): Promise<Answer> {
  const gone = new AbortController();
  const answer = once(child, 'message', { signal: gone.signal });
  const onExit = () => gone.abort(new Error('A process of the bench ended before it answered'));
  child.once('exit', onExit);
  child.send(question);
  try {
    const [{ result, error }] = (await answer) as [{ result: Answer; error?: string }]; // the answer of our own files
    if (error !== undefined) throw new Error(error);
    return result;
  } finally {
    child.off('exit', onExit);
  }
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  const isReady = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (Date.now() > deadline) throw new Error(`${url} is not ready after ${startTimeoutMs} ms`);
    await delay(pollMs);
  }
}

async function failedStart(child: ChildProcess, name: string): Promise<never> {
  await once(child, 'exit');
  throw new Error(`${name} ended with ${child.signalCode ?? `code ${child.exitCode}`} before it was ready`);
}

async function stop(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  const force = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await gone;
  clearTimeout(force);
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('A process of the bench could not be started');
  return pid;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // the server listens on a TCP address, not on a pipe
  server.close();
  await once(server, 'close');
  return port;
}
