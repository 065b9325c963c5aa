import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { hasEnded, spawnService, type ServiceProcess } from '@countersign/testkit/service-process';
import { untilReachable } from '@countersign/testkit/until';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));

export type KernelProcess = ServiceProcess & { url: string };

/** Starts the built kernel as a separate process, so that a test can kill it. */
export async function startKernelProcess(env: Record<string, string>): Promise<KernelProcess> {
  for (let attempt = 1; ; attempt += 1) {
    const started = await startOn(await freePort(), env);
    if (started !== null) return started;
    if (attempt === 3) throw new Error('The kernel does not start; it says why on stderr');
  }
}

/** `null` when the kernel ended at once, for example because another process took the port. */
async function startOn(port: number, env: Record<string, string>): Promise<KernelProcess | null> {
  const started = await spawnKernel(env, port);
  const url = `http://127.0.0.1:${port}`;
  await untilReachable(async () => hasEnded(started.child) || (await fetch(`${url}/health/live`)).ok);
  return hasEnded(started.child) ? null : { ...started, url };
}

/** Starts the built kernel, and does not wait until it answers. */
export async function spawnKernel(env: Record<string, string>, port?: number): Promise<ServiceProcess> {
  const { PATH = '' } = process.env;
  const ports = { GOV_PORT: String(port ?? (await freePort())), GOV_HEALTH_PORT: String(await freePort()) };
  return spawnService(main, { PATH, ...env, ...ports });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  await once(server, 'close');
  return port;
}
