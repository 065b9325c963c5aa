import { digestOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';

/** The hash by which a receipt names a body that it does not hold. */
export function bodyHash(bytes: Uint8Array): string {
  return digestOf(nodeProvider, bytes);
}
