import { encodeBase64Url, utf8Bytes } from '@countersign/crypto';
import type { SealedDecision } from '../boundary/sealed-decision.ts';

/**
 * The decision headers of every answer of the chat route. The body is the model's own, so the receipt comes beside it:
 * X-Gov-Receipt is the base64url of its JSON.
 */
export function answerHeaders({ headers, reply }: SealedDecision): Record<string, string> {
  return { ...headers, 'x-gov-receipt': encodeBase64Url(utf8Bytes(JSON.stringify(reply.receipt))) };
}
