import type { CheckedReceipt } from '@countersign/contracts/control-plane';
import type { LedgerEntry } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { VerificationError, verifyLedgerEntry, type TrustedKeys } from '@countersign/verifier';

/** The expected tenant and session of the receipt. Without `session`, any session is accepted. */
type Expected = { tenant: string; session?: string };

/** A receipt, and the checkpoint that covered it before its key was revoked: see {@link LedgerEntry}. */
export type Witnessed = Pick<LedgerEntry, 'receipt' | 'witness'>;

/** Verifies an attacker-controlled receipt with the trusted keys, and compares it with the request. */
export function checkReceipt(shown: Witnessed, keys: TrustedKeys, expected: Expected): CheckedReceipt {
  const fault = findFault(shown, keys, expected);
  return { receipt: shown.receipt, verified: fault === null, fault };
}

function findFault(shown: Witnessed, keys: TrustedKeys, expected: Expected): VerificationError['code'] | null {
  try {
    const { payload } = verifyLedgerEntry(shown, keys, nodeProvider);
    const { tenant, session = payload.session_id } = expected;
    const isOurs = payload.tenant_id === tenant && payload.session_id === session;
    return isOurs ? null : 'SUBJECT_MISMATCH';
  } catch (error) {
    if (error instanceof VerificationError) return error.code;
    throw error;
  }
}
