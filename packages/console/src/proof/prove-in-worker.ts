import type { ProofClaim, Proven } from './proof-claim.ts';

/** Verifies in a worker, so that the page stays responsive. Rejects when the worker cannot run. */
export async function proveInWorker(claim: ProofClaim): Promise<Proven> {
  const worker = new Worker(new URL('./proof-worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise<Proven>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<Proven>) => resolve(data));
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      worker.postMessage(claim);
    });
  } finally {
    worker.terminate();
  }
}
