import type { CheckedReceipt } from '@countersign/contracts/control-plane';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { VerificationError, verifyReceipt, type TrustedKeys } from '@countersign/verifier';

/** Whose receipt it has to be. */
type Expected = { tenant: string; session: string };

/** Holds an attacker-controlled receipt against the trusted keys, and against the chain that was asked for. */
export function checkReceipt(receipt: StoredReceipt, keys: TrustedKeys, expected: Expected): CheckedReceipt {
  const fault = findFault(receipt, keys, expected);
  return { receipt, verified: fault === null, fault };
}

function findFault(receipt: StoredReceipt, keys: TrustedKeys, expected: Expected): VerificationError['code'] | null {
  try {
    const { payload } = verifyReceipt(receipt, keys, nodeProvider);
    const isOurs = payload.tenant_id === expected.tenant && payload.session_id === expected.session;
    return isOurs ? null : 'SUBJECT_MISMATCH';
  } catch (error) {
    if (error instanceof VerificationError) return error.code;
    throw error;
  }
}
