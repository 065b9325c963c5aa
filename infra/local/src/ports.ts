import { createServer } from 'node:net';
import { LocalProblem } from './local-problem.ts';

const host = '127.0.0.1';

/** A port that nobody uses now. */
export async function freePort(): Promise<number> {
  return await listenOnce(0);
}

/** Throws LocalProblem that names the variable by which another port is chosen. */
export async function assertPortFree(port: number, variable: string): Promise<void> {
  if (port === 0) return;
  await listenOnce(port).catch(() => {
    throw new LocalProblem(
      `Port ${port} is taken, or this user may not open it.`,
      `Stop what uses it, or choose another one: ${variable}=${port + 1000} make up`,
    );
  });
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(port, host, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}
