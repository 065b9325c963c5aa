import { AppError } from '@countersign/contracts';
import type { TrustedKeys } from '@countersign/verifier';
import type { Context } from '../context.ts';

/** The keys that receipts are held against. Throws GOVERNANCE_UNAVAILABLE while none could be pinned. */
export function trustedKeys({ keyRing }: Pick<Context, 'keyRing'>): Promise<TrustedKeys> {
  return keyRing.keys().catch((cause: unknown) => {
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The keys of the kernel are not known', { cause });
  });
}
