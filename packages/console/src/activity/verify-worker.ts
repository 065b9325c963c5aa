import '../without-eval.ts';
import { portableProvider } from '@countersign/crypto';
import { parseKeySet, verifyInclusion, VerificationError } from '@countersign/verifier';
import type { Claim, Verified } from './verification.ts';

addEventListener('message', ({ data }: MessageEvent<Claim>) => postMessage(verified(data)));

/** Uses the code of the offline verifier: the signature, the hash, and the place in the signed log. */
function verified({ receipt, keys, proof }: Claim): Verified {
  try {
    const trust = parseKeySet(keys);
    const claim = { receipt, proof, checkpoint: proof.checkpoint.note };
    // A receipt of a revoked key verifies by its place in the log alone.
    const { key_id } = verifyInclusion({ ...claim, trust, provider: portableProvider });
    return { isProven: true, keyId: key_id, treeSize: proof.tree_size };
  } catch (error) {
    const code = error instanceof VerificationError ? error.code : 'FAULT';
    return { isProven: false, code, message: error instanceof Error ? error.message : String(error) };
  }
}
