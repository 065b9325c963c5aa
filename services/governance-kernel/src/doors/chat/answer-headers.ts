import { encodeBase64Url, utf8Bytes } from '@countersign/crypto';
import type { SealedDecision } from '../../decision/sealed-decision.ts';

/**
 * The decision headers of every answer of the chat route. The body belongs to the model, so the receipt is in a
 * header: X-Gov-Receipt is the base64url of its JSON.
 */
export function answerHeaders({ headers, reply }: SealedDecision): Record<string, string> {
  return { ...headers, 'x-gov-receipt': encodeBase64Url(utf8Bytes(JSON.stringify(reply.receipt))) };
}
