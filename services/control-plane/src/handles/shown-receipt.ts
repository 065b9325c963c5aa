import { AppError, type ReceiptId } from '@countersign/contracts';
import type { PublicReceipt } from '@countersign/contracts/control-plane';
import { getInclusionProof, getReceipt } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { publicReceiptOf, verifyInclusion, verifyOriginal, VerificationError } from '@countersign/verifier';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { trustedKeys } from '../trust/trusted-keys.ts';

/**
 * The public part of a receipt of the caller's workspace, with the proof that it is in the log. Throws NOT_FOUND,
 * ILLEGAL_TRANSITION when the receipt does not verify, and GOVERNANCE_UNAVAILABLE.
 */
export async function getShownReceipt(
  context: Pick<Context, 'kernel' | 'keyRing'>,
  receipt_id: ReceiptId,
  { assertion, workspaceId }: WorkspaceCaller,
): Promise<PublicReceipt> {
  const asPerson = context.kernel.as(assertion, { getReceipt, getInclusionProof });
  const receipt = await answerOf('kernel', () => asPerson.getReceipt({ params: { receipt_id } }));
  const proof = await answerOf('kernel', () => asPerson.getInclusionProof({ query: { receipt_id } }));
  const trust = await trustedKeys(context);
  try {
    const claim = { receipt, proof, checkpoint: proof.checkpoint.note };
    // A receipt of a revoked key verifies only by its place in the log.
    const opened = verifyInclusion({ ...claim, trust, provider: nodeProvider });
    if (String(opened.payload.tenant_id) !== workspaceId || opened.payload.receipt_id !== receipt_id)
      throw new VerificationError('SUBJECT_MISMATCH', 'the receipt is not the requested one');
    const { log_index: index, tree_size, hashes, checkpoint } = proof;
    const shown = publicReceiptOf(opened, { index, tree_size, hashes, note: checkpoint.note });
    verifyOriginal(receipt, shown, { trust, provider: nodeProvider });
    return shown;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new AppError(
      'ILLEGAL_TRANSITION',
      `A handle requires a receipt that verifies, and this one does not: ${error.code}`,
      {
        param: 'object_id',
        details: { allowed: [] },
        cause: error,
      },
    );
  }
}
