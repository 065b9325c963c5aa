import { generateSigningKey } from '@countersign/crypto/signing';

/** Of the gateways under test: the stub of the kernel has it pinned. */
export const assertionKey = generateSigningKey();
