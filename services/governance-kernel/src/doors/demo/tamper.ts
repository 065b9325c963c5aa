import type { ReceiptPayload, SignedReceipt } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url, encodeBase64Url } from '@countersign/crypto';

type Mutation = 'flip_verdict' | 'change_action' | 'change_principal' | 'flip_signature_bit';

/** The receipt with one change, like a forgery. Everything else is unchanged, so the signature is invalid. */
export function tamper({ payload, signature }: SignedReceipt, mutation: Mutation): SignedReceipt {
  switch (mutation) {
    case 'flip_verdict':
      return { payload: { ...payload, verdict: payload.verdict === 'ALLOW' ? 'DENY' : 'ALLOW' }, signature };
    case 'change_action':
      return {
        payload: { ...payload, action: payload.action === 'tool.call' ? 'data.egress' : 'tool.call' },
        signature,
      };
    case 'change_principal':
      return { payload: { ...payload, principal_id: otherPrincipal(payload) }, signature };
    case 'flip_signature_bit':
      return { payload, signature: { ...signature, value: withFlippedBit(signature.value) } };
  }
}

function otherPrincipal({ principal_id }: ReceiptPayload): ReceiptPayload['principal_id'] {
  return (principal_id === 'mallory' ? 'alice' : 'mallory') as ReceiptPayload['principal_id']; // within its schema
}

/** A malformed signature is returned unchanged. */
function withFlippedBit(value: string): string {
  try {
    const [first = 0, ...rest] = decodeBase64Url(value);
    return encodeBase64Url(Uint8Array.of(first ^ 1, ...rest));
  } catch {
    return value;
  }
}
