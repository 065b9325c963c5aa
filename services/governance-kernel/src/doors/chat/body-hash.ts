import { digestOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';

/** The hash of a body. Receipts contain it instead of the body. */
export function bodyHash(bytes: Uint8Array): string {
  return digestOf(nodeProvider, bytes);
}
