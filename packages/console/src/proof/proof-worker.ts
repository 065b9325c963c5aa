import '../without-eval.ts';
import { jsonDepthMax, parseStrictJson, portableProvider } from '@countersign/crypto';
import { readTrust, VerificationError, verifyOriginal, verifyPublicReceipt } from '@countersign/verifier';
import type { ProofClaim, Proven } from './proof-claim.ts';

/** A receipt has a few kilobytes, so a larger text is not a receipt. */
const originalBytesMax = 1_000_000;

addEventListener('message', ({ data }: MessageEvent<ProofClaim>) => postMessage(proven(data)));

/** Verifies with the code of the offline verifier. */
function proven({ statement, keys, original }: ProofClaim): Proven {
  try {
    const provider = portableProvider;
    const trust =
      'trust' in keys ? readTrust(keys.trust, { root: keys.root, provider }) : readTrust(keys, { provider });
    const claim = { trust, provider };
    const { origin: log, size: treeSize, time: signedAt } = verifyPublicReceipt(statement, claim);
    if (original !== null)
      verifyOriginal(
        parseStrictJson(original, { bytesMax: originalBytesMax, depthMax: jsonDepthMax }),
        statement,
        claim,
      );
    return { isProven: true, log, treeSize, signedAt, isOriginal: original !== null };
  } catch (error) {
    const code = error instanceof VerificationError ? error.code : 'MALFORMED';
    return { isProven: false, code, message: error instanceof Error ? error.message : String(error) };
  }
}
