import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { assertCeremony, VerificationError } from '@countersign/verifier';
import type { SealedEntry } from '../../ledger/statement.ts';
import { refused } from './webauthn.ts';

/**
 * A signed passkey statement is sealed only if the public verifier accepts its exact text. A sealed text that the
 * verifier refuses would make the whole session unverifiable permanently. Browsers, and the library that reads their
 * answers, accept more texts than the verifier. Throws PASSKEY_REFUSED.
 */
export function requireVerifiableCeremony(provider: CryptoProvider, { recordText }: SealedEntry): void {
  if (recordText === null) return;
  try {
    assertCeremony(JSON.parse(recordText) as BoundaryRecord, provider); // sealed by this kernel
  } catch (error) {
    throw error instanceof VerificationError ? refused(error) : error;
  }
}
