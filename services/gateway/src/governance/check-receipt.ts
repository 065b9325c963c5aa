import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { VerificationError, verifyReceipt, type TrustedKeys } from '@countersign/verifier';

/** The expected content of the receipt of this step. */
type ReceiptExpectation = {
  tenant: string;
  principal: string;
  session: string;
  action: string;
  /** `null` for the receipt of a model call. */
  tool: string | null;
  decisionId: string;
  /** A receipt from before this time is a replay of another decision. */
  notBefore: Date;
};

/** The verifier's refusal, or the first member that does not belong to this step. */
export type ReceiptFault = VerificationError['code'] | ContentFault;
type ContentFault =
  | 'kind'
  | 'tenant'
  | 'principal'
  | 'session'
  | 'action'
  | 'tool'
  | 'decision'
  | 'age'
  | 'step'
  | 'approval'
  | 'subject';

/** Clocks of two hosts under NTP differ by far less. */
const clockSkewMs = 60_000;

/**
 * Verifies an attacker-controlled receipt offline. Returns the first fault, or `null` for a receipt that proves the
 * expectation.
 */
export function findReceiptFault(
  receipt: StoredReceipt,
  keys: TrustedKeys,
  expected: ReceiptExpectation,
): ReceiptFault | null {
  return proofFault(receipt, keys) ?? contentFault(receipt, expected);
}

function proofFault(receipt: StoredReceipt, keys: TrustedKeys): ReceiptFault | null {
  try {
    verifyReceipt(receipt, keys, nodeProvider);
    return null;
  } catch (error) {
    if (error instanceof VerificationError) return error.code;
    throw error;
  }
}

function contentFault({ payload }: StoredReceipt, expected: ReceiptExpectation): ReceiptFault | null {
  if (payload.kind !== 'decision' || payload.shadow) return 'kind';
  if (payload.tenant_id !== expected.tenant) return 'tenant';
  if (payload.principal_id !== expected.principal) return 'principal';
  if (payload.session_id !== expected.session) return 'session';
  if (payload.action !== expected.action) return 'action';
  if (payload.tool !== expected.tool) return 'tool';
  if (payload.decision_id !== expected.decisionId) return 'decision';
  return Date.parse(payload.issued_at) < expected.notBefore.getTime() - clockSkewMs ? 'age' : null;
}
