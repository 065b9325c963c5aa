import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { assertCeremony, VerificationError } from '@countersign/verifier';
import type { SealedEntry } from '../ledger/statement.ts';
import { refused } from './webauthn.ts';

/**
 * A signed passkey statement is sealed only if the public verifier accepts it, in the very text that goes into the
 * chain. A text that it refuses would make the whole session unverifiable for good. Browsers, and the library that
 * reads their answers, let pass more. Throws PASSKEY_REFUSED.
 */
export function requireVerifiableCeremony(provider: CryptoProvider, { recordText }: SealedEntry): void {
  if (recordText === null) return;
  try {
    assertCeremony(JSON.parse(recordText) as BoundaryRecord, provider); // sealed by this kernel
  } catch (error) {
    throw error instanceof VerificationError ? refused(error) : error;
  }
}
