import { generateSigningKey } from '@countersign/crypto/signing';

/** The key of the gateways under test: the stub of the kernel has it pinned. */
export const assertionKey = generateSigningKey();
