import { generateSigningKey } from '@countersign/crypto/signing';

/** The assertion key of the gateways under test, which the kernel stub has pinned. */
export const assertionKey = generateSigningKey();
