import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { nodeFlags } from '../runner/node-flags-of.mjs';

const kernelMain = fileURLToPath(new URL('../../services/governance-kernel/dist/main.js', import.meta.url));
const startTimeoutMs = 30_000;
const stopTimeoutMs = 15_000;

/** Starts one file of ./processes and waits until it says that it is ready. */
export async function startProcess(name, args = [], env = {}) {
  const file = fileURLToPath(new URL(`processes/${name}.mjs`, import.meta.url));
  const child = fork(file, args, { env: { ...process.env, NODE_ENV: 'production', ...env } });
  const [message] = await Promise.race([once(child, 'message'), failedStart(child, name)]);
  return { url: message.url, pid: child.pid, child, stop: () => stop(child, 'SIGKILL') };
}

/** Starts the kernel as users run it: one process, from the build, told everything by its environment. */
export async function startKernel(env) {
  const port = await freePort();
  const healthPort = await freePort();
  const flags = [...nodeFlags(), ...(process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean)];
  const child = fork(kernelMain, [], {
    execArgv: flags,
    env: { PATH: process.env.PATH, ...env, GOV_PORT: String(port), GOV_HEALTH_PORT: String(healthPort) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([untilReady(`${url}/health/ready`), failedStart(child, 'governance-kernel')]);
  return { url, pid: child.pid, stop: () => stop(child, 'SIGTERM') };
}

/** Puts one load on a URL from a process of its own. */
export async function generateLoad({ child }, load) {
  child.send(load);
  const [{ result, error }] = await once(child, 'message');
  if (error !== undefined) throw new Error(`The load generator failed on ${load.url}: ${error}`);
  return result;
}

async function untilReady(url) {
  const deadline = Date.now() + startTimeoutMs;
  while (
    !(await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (Date.now() > deadline) throw new Error(`${url} is not ready after ${startTimeoutMs} ms`);
    await delay(50);
  }
}

async function failedStart(child, name) {
  const [code] = await once(child, 'exit');
  throw new Error(`${name} ended with code ${code} before it was ready`);
}

async function stop(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  const force = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await gone;
  clearTimeout(force);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
