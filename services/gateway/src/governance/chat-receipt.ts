import { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url, parseStrictJson } from '@countersign/crypto';
import { malformed } from './kernel-error.ts';

/** Far above the size of a receipt, and far below the limit of a header. */
const receiptLimits = { depthMax: 8, bytesMax: 16_384 };

type ChatReceipt = { receipt: StoredReceipt; decisionId: string };

/**
 * The receipt of a chat answer, which is in a header because the body belongs to the model. Attacker-controlled until
 * it is verified.
 */
export function chatReceiptOf(headers: Headers): ChatReceipt {
  const receipt = headers.get('x-gov-receipt');
  const decisionId = headers.get('x-gov-decision-id');
  if (receipt === null || decisionId === null) throw malformed('The answer of the kernel carries no receipt');
  try {
    return { receipt: StoredReceipt.parse(parseStrictJson(decodeBase64Url(receipt), receiptLimits)), decisionId };
  } catch (cause) {
    throw malformed('The receipt of the kernel does not match its contract', cause);
  }
}
