import { parentPort } from 'node:worker_threads';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle, PolicyError, type CompiledPolicy } from '@countersign/policy';
import { takeText, verifyText } from '@countersign/verifier';
import { PackReplay } from '@countersign/what-if';
import type { Replayed, Result, Work } from './judged.ts';

parentPort?.on('message', (work: Work) => parentPort?.postMessage(resultOf(work)));

function resultOf(work: Work): Result {
  if (work.kind === 'replay') return replayed(work);
  const { text, trust, expected } = work;
  return { kind: 'verified', report: verifyText(text, { ...expected, trust, provider: nodeProvider }) };
}

function replayed({ text, trust, expected, policy }: Replayed): Result {
  const draft = policy === null ? null : draftOf(policy);
  if (typeof draft === 'string') return { kind: 'refused', message: draft };
  const replay = new PackReplay({ trust, provider: nodeProvider, expected, draft });
  takeText(text, replay);
  return { kind: 'replayed', report: replay.report() };
}

/** Returns the reason as a text when the policy is not a valid bundle. */
function draftOf(policy: string): CompiledPolicy | string {
  try {
    return compilePolicy(parsePolicyBundle(policy), nodeProvider);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return `${error.message} (${error.code})`;
  }
}
