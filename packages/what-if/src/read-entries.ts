import { ReceiptId, type Instant, type TenantId } from '@countersign/contracts';
import type { Changed } from '@countersign/contracts/control-plane';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import type { DecidedAgain } from '@countersign/policy';
import { VerificationError, verifyLedgerEntry, type TrustedKeys } from '@countersign/verifier';
import { ChainsFromTheEnd } from './chains.ts';

/** A receipt as a kernel serves it, the record that it seals, and what saw it before its key was revoked. Each may be anything. */
export type LedgerEntry = { receipt: unknown; record?: unknown; witness?: unknown };

type Reading = { tenant: TenantId; trust: TrustedKeys; provider: CryptoProvider };
type Opened = { payload: ReceiptPayload; receipt_hash: string };

/** All receipts of a tenant, newest first. */
export class EntriesFromTheEnd {
  readonly #chains = new ChainsFromTheEnd();
  readonly #reading: Reading;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** Throws VerificationError for what does not verify, is of another tenant, or does not stand before what was seen last in its session. */
  open({ receipt, witness }: LedgerEntry): Opened {
    const { tenant, trust, provider } = this.#reading;
    const { payload, receipt_hash } = verifyLedgerEntry({ receipt, witness }, trust, provider);
    if (payload.tenant_id !== tenant)
      throw new VerificationError('LINK_MISMATCH', `it is a receipt of ${payload.tenant_id}`);
    if (!this.#chains.add({ payload, receipt_hash }))
      throw new VerificationError(
        'CHAIN_GAP',
        'it does not stand before the receipt that was seen last in its session',
      );
    return { payload, receipt_hash };
  }
}

type Window = { from: Instant | null; to: Instant | null };

/** Is it a decision that something followed from, of that time? */
export function isAsked({ kind, shadow, issued_at }: ReceiptPayload, { from, to }: Window): boolean {
  if (kind !== 'decision' || shadow) return false;
  // Instants have one length, so their order is that of their texts.
  return (from === null || issued_at >= from) && (to === null || issued_at < to);
}

/** A decision as it was sealed, beside what it is now. */
export function changeOf(record: BoundaryRecord, again: DecidedAgain): Changed {
  const { receipt_id, session_id, principal_id, verdict: before, reason_code: reason_before } = record;
  const { action, tool } = record.intent;
  const call = { receipt_id, session_id, principal_id, action, tool, before, reason_before };
  return again.kind === 'decided'
    ? { ...call, after: again.verdict, reason_after: again.reason_code, rules: again.matched_rules, missing: [] }
    : { ...call, after: 'UNREPLAYABLE', reason_after: null, rules: [], missing: again.missing };
}

/** The id that an arbitrary value claims. */
export function claimedId(receipt: unknown): ReceiptId | null {
  if (typeof receipt !== 'object' || receipt === null || !('payload' in receipt)) return null;
  const { payload } = receipt;
  if (typeof payload !== 'object' || payload === null || !('receipt_id' in payload)) return null;
  return ReceiptId.safeParse(payload.receipt_id).data ?? null;
}
