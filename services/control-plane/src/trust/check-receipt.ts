import type { CheckedReceipt } from '@countersign/contracts/control-plane';
import type { LedgerEntry } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { VerificationError, verifyLedgerEntry, type TrustedKeys } from '@countersign/verifier';

/** The expected tenant and session of the receipt; absent: any. */
type Expected = { tenant: string; session?: string };

/** A receipt, and what saw it before its key was revoked: see {@link LedgerEntry}. */
export type Witnessed = Pick<LedgerEntry, 'receipt' | 'witness'>;

/** Holds an attacker-controlled receipt against the trusted keys, and against what was asked for. */
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
