import type { CryptoProvider } from '@countersign/crypto';
import { assertCeremony, VerificationError } from '@countersign/verifier';
import type { SealedEntry } from '../../ledger/statement.ts';
import { refused } from './webauthn.ts';
import { sealedRecord } from '../../ledger/sealed-text.ts';

/**
 * A signed passkey statement is sealed only if the public verifier accepts its exact text. A sealed text that the
 * verifier refuses would make the whole session unverifiable permanently. Browsers, and the library that reads their
 * answers, accept more texts than the verifier. Throws PASSKEY_REFUSED.
 */
export function requireVerifiableCeremony(provider: CryptoProvider, { recordText }: SealedEntry): void {
  if (recordText === null) return;
  try {
    assertCeremony(sealedRecord(recordText), provider);
  } catch (error) {
    throw error instanceof VerificationError ? refused(error) : error;
  }
}
