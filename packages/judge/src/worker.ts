import { parentPort } from 'node:worker_threads';
import { nodeProvider } from '@countersign/crypto/node';
import { verifyText } from '@countersign/verifier';
import type { Judged, Verdict } from './judged.ts';

parentPort?.on('message', ({ text, trust, expected }: Judged) => {
  const verdict: Verdict = { report: verifyText(text, { ...expected, trust, provider: nodeProvider }) };
  parentPort?.postMessage(verdict);
});
