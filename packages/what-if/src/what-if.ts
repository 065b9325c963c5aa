import { ReceiptId } from '@countersign/contracts';
import type { Changed, WhatIfQuestion, WhatIfReport } from '@countersign/contracts/control-plane';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { decideAgain, type CompiledPolicy } from '@countersign/policy';
import { VerificationError, verifyLedgerEntry, verifyRecord, type TrustedKeys } from '@countersign/verifier';
import { ChainsFromTheEnd } from './chains.ts';
import { Tally } from './tally.ts';

/** A receipt as a kernel serves it, the record that it seals, and what saw it before its key was revoked. Each may be anything. */
type LedgerEntry = { receipt: unknown; record?: unknown; witness?: unknown };

type WhatIfOptions = {
  question: WhatIfQuestion;
  draft: CompiledPolicy;
  /** Canonical texts of the ceilings in force for the tenant. */
  ceilings: readonly string[];
  /** The policy of this hash, under which decisions were made; null: nobody has it any more. */
  policyOf(hash: string): CompiledPolicy | null;
  trust: TrustedKeys;
  provider: CryptoProvider;
};

/**
 * Takes all receipts of a tenant, newest first, each with its record where it has one. What does not verify is counted and named, and
 * nothing is decided from it. Memory grows with what widens, agents, tools and sessions, and with nothing else.
 *
 * @example
 * const whatIf = new WhatIf({ question, draft, ceilings, policyOf, trust, provider });
 * for (const entry of entries) if (!whatIf.take(entry)) break;
 * const report = whatIf.report({ isWhole: true });
 */
export class WhatIf {
  readonly #options: WhatIfOptions;
  readonly #chains = new ChainsFromTheEnd();
  readonly #tally = new Tally();

  constructor(options: WhatIfOptions) {
    this.#options = options;
  }

  get decisions(): number {
    return this.#tally.decisions;
  }

  /** False when nothing more needs to be read. */
  take(entry: LedgerEntry): boolean {
    try {
      this.#takeVerified(entry);
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      this.#tally.refuse({ receipt_id: claimedId(entry.receipt), code: error.code });
    }
    return this.#tally.decisions < this.#options.question.limit;
  }

  /** `isWhole`: there was nothing older to take. */
  report({ isWhole }: { isWhole: boolean }): WhatIfReport {
    const { question, provider } = this.#options;
    return this.#tally.report({ question, isWhole, provider });
  }

  #takeVerified({ receipt, record, witness }: LedgerEntry): void {
    const { trust, provider, question } = this.#options;
    const { payload, receipt_hash } = verifyLedgerEntry({ receipt, witness }, trust, provider);
    if (payload.tenant_id !== question.tenant_id)
      throw new VerificationError('LINK_MISMATCH', `it is a receipt of ${payload.tenant_id}`);
    if (!this.#chains.add({ payload, receipt_hash }))
      throw new VerificationError(
        'CHAIN_GAP',
        'it does not stand before the receipt that was seen last in its session',
      );
    this.#tally.noteReceipt();
    if (!isAsked(payload, question)) return;
    // A refusal of the record reads as one of the decision.
    this.#tally.note(this.#changeOf(verifyRecord(record, receipt, provider)));
  }

  #changeOf(record: BoundaryRecord): Changed {
    const { draft, ceilings, policyOf } = this.#options;
    const { policy_hash: hash } = record;
    const recorded = hash === null ? 'none' : (policyOf(hash) ?? 'unknown');
    const again = decideAgain(record, { draft, recorded, ceilings });
    const { receipt_id, session_id, principal_id, verdict: before, reason_code: reason_before } = record;
    const { action, tool } = record.intent;
    const call = { receipt_id, session_id, principal_id, action, tool, before, reason_before };
    return again.kind === 'decided'
      ? { ...call, after: again.verdict, reason_after: again.reason_code, rules: again.matched_rules, missing: [] }
      : { ...call, after: 'UNREPLAYABLE', reason_after: null, rules: [], missing: again.missing };
  }
}

/** Decisions that something followed from, of the time that is asked about. */
function isAsked({ kind, shadow, issued_at }: ReceiptPayload, { from, to }: WhatIfQuestion): boolean {
  if (kind !== 'decision' || shadow) return false;
  // Instants have one length, so their order is that of their texts.
  return (from === null || issued_at >= from) && (to === null || issued_at < to);
}

/** What a value that may be anything says of itself. */
function claimedId(receipt: unknown): ReceiptId | null {
  if (typeof receipt !== 'object' || receipt === null || !('payload' in receipt)) return null;
  const { payload } = receipt;
  if (typeof payload !== 'object' || payload === null || !('receipt_id' in payload)) return null;
  return ReceiptId.safeParse(payload.receipt_id).data ?? null;
}
