import { ReceiptId, type Instant, type TenantId } from '@countersign/contracts';
import type { Changed } from '@countersign/contracts/control-plane';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import type { DecidedAgain } from '@countersign/policy';
import { VerificationError, verifyLedgerEntry, type TrustedKeys } from '@countersign/verifier';
import { ChainsFromTheEnd } from './chains.ts';

/**
 * A receipt as a kernel serves it, its sealed record, and evidence that the receipt existed before its key was revoked.
 * Each member may have any value, because it is not verified yet.
 */
export type LedgerEntry = { receipt: unknown; record?: unknown; witness?: unknown };

type Reading = { tenant: TenantId; trust: TrustedKeys; provider: CryptoProvider };
type Opened = { payload: ReceiptPayload; receipt_hash: string };

/** Verifies the receipts of a tenant, newest first. */
export class EntriesFromTheEnd {
  readonly #chains = new ChainsFromTheEnd();
  readonly #reading: Reading;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /**
   * Throws VerificationError if the receipt does not verify, belongs to a different tenant, or does not directly
   * precede the last seen one of its session.
   */
  open({ receipt, witness }: LedgerEntry): Opened {
    const { tenant, trust, provider } = this.#reading;
    const { payload, receipt_hash } = verifyLedgerEntry({ receipt, witness }, trust, provider);
    if (payload.tenant_id !== tenant)
      throw new VerificationError('LINK_MISMATCH', `the receipt belongs to the tenant ${payload.tenant_id}`);
    if (!this.#chains.add({ payload, receipt_hash }))
      throw new VerificationError(
        'CHAIN_GAP',
        'the receipt does not directly precede the last read receipt of its session',
      );
    return { payload, receipt_hash };
  }
}

type Window = { from: Instant | null; to: Instant | null };

/** Whether the receipt is an effective decision within the window. Shadow decisions have no effect. */
export function isAsked({ kind, shadow, issued_at }: ReceiptPayload, { from, to }: Window): boolean {
  if (kind !== 'decision' || shadow) return false;
  // Instants have a fixed length, so their texts sort by time.
  return (from === null || issued_at >= from) && (to === null || issued_at < to);
}

/** A sealed decision, next to the repeated decision. */
export function changeOf(record: BoundaryRecord, again: DecidedAgain): Changed {
  const { receipt_id, session_id, principal_id, verdict: before, reason_code: reason_before } = record;
  const { action, tool } = record.intent;
  const call = { receipt_id, session_id, principal_id, action, tool, before, reason_before };
  return again.kind === 'decided'
    ? { ...call, after: again.verdict, reason_after: again.reason_code, rules: again.matched_rules, missing: [] }
    : { ...call, after: 'UNREPLAYABLE', reason_after: null, rules: [], missing: again.missing };
}

/** The receipt id in a value of any type. `null` when it has none. */
export function claimedId(receipt: unknown): ReceiptId | null {
  if (typeof receipt !== 'object' || receipt === null || !('payload' in receipt)) return null;
  const { payload } = receipt;
  if (typeof payload !== 'object' || payload === null || !('receipt_id' in payload)) return null;
  return ReceiptId.safeParse(payload.receipt_id).data ?? null;
}
