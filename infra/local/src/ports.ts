import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { LocalProblem } from './local-problem.ts';

const host = '127.0.0.1';
const triesMax = 100;

/**
 * A port that nobody uses now. It lies below those that a system gives out by itself (from 32768 on, on Linux): one of these may be
 * another's before whoever asked opens it.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < triesMax; tried += 1) {
    const port = randomInt(10_000, 30_000);
    const isFree = await listenOnce(port).then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
  throw new Error(`None of ${triesMax} ports is free`);
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

function listenOnce(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}
