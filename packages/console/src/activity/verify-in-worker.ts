import type { Claim, Verified } from './verification.ts';

/** Verifies a receipt in a worker, so that the page stays responsive. Rejects when the worker cannot run. */
export async function verifyInWorker(claim: Claim): Promise<Verified> {
  const worker = new Worker(new URL('./verify-worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise<Verified>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<Verified>) => resolve(data));
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      worker.postMessage(claim);
    });
  } finally {
    worker.terminate();
  }
}
