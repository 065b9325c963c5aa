import '../without-eval.ts';
import { portableProvider } from '@countersign/crypto';
import {
  parseKeySet,
  parseLogPolicy,
  verifyCheckpoint,
  verifyInclusion,
  verifyWitnessed,
  VerificationError,
  type TrustedKeys,
} from '@countersign/verifier';
import type { Claim, ReceiptTime, Verified } from './verification.ts';

addEventListener('message', ({ data }: MessageEvent<Claim>) => postMessage(verified(data)));

/** Checks the signature, the hash and the place in the signed log with the code of the offline verifier. */
function verified({ receipt, keys, proof, witnesses }: Claim): Verified {
  try {
    const trust = parseKeySet(keys);
    const claim = { receipt, proof, checkpoint: proof.checkpoint.note };
    // A receipt that was signed by a revoked key verifies only by its place in the log.
    const { key_id } = verifyInclusion({ ...claim, trust, provider: portableProvider });
    const time = timeOf(proof.checkpoint.note, { trust, witnesses });
    return { isProven: true, keyId: key_id, treeSize: proof.tree_size, time };
  } catch (error) {
    const code = error instanceof VerificationError ? error.code : 'FAULT';
    return { isProven: false, code, message: error instanceof Error ? error.message : String(error) };
  }
}

type TimeTrust = { trust: TrustedKeys; witnesses: string | null };

function timeOf(note: string, { trust, witnesses }: TimeTrust): ReceiptTime {
  const log = { trust, provider: portableProvider };
  const logged = { kind: 'logged', by: verifyCheckpoint(note, log).time } as const;
  if (witnesses === null) return { ...logged, problem: null };
  try {
    const by = verifyWitnessed(note, { ...log, policy: parseLogPolicy(witnesses, portableProvider) });
    if (by !== null) return { kind: 'witnessed', by };
    return { ...logged, problem: 'Too few of your witnesses have cosigned this checkpoint' };
  } catch (error) {
    if (error instanceof VerificationError) return { ...logged, problem: error.message };
    throw error;
  }
}
