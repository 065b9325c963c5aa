import type { Changed, WhatIfQuestion, WhatIfReport } from '@countersign/contracts/control-plane';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { decideAgain, type CompiledPolicy } from '@countersign/policy';
import { VerificationError, verifyRecord, type TrustedKeys } from '@countersign/verifier';
import { changeOf, claimedId, EntriesFromTheEnd, isAsked, type LedgerEntry } from './read-entries.ts';
import { Tally } from './tally.ts';

type WhatIfOptions = {
  question: WhatIfQuestion;
  draft: CompiledPolicy;
  /** Canonical texts of the current ceilings of the tenant. */
  ceilings: readonly string[];
  /** The policy of this hash, under which decisions were made. `null` when it is no longer available. */
  policyOf(hash: string): CompiledPolicy | null;
  trust: TrustedKeys;
  provider: CryptoProvider;
};

/**
 * Reads receipts of a tenant, newest first, with their records if there are any. It ends at the limit of the question.
 * Unverified receipts are counted, the first ones are named, and none is decided. Memory grows only with widened
 * decisions, agents, tools and sessions.
 *
 * @example
 * const whatIf = new WhatIf({ question, draft, ceilings, policyOf, trust, provider });
 * for (const entry of entries) if (!whatIf.take(entry)) break;
 * const report = whatIf.report({ isWhole: true });
 */
export class WhatIf {
  readonly #options: WhatIfOptions;
  readonly #entries: EntriesFromTheEnd;
  readonly #tally = new Tally();

  constructor(options: WhatIfOptions) {
    this.#options = options;
    this.#entries = new EntriesFromTheEnd({ ...options, tenant: options.question.tenant_id });
  }

  get decisions(): number {
    return this.#tally.decisions;
  }

  /** Returns `false` when nothing more needs to be read. */
  take(entry: LedgerEntry): boolean {
    try {
      this.#takeVerified(entry);
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      this.#tally.refuse({ receipt_id: claimedId(entry.receipt), code: error.code });
    }
    return this.#tally.decisions < this.#options.question.limit;
  }

  /** `isWhole`: no older receipt of the tenant was left unread. */
  report({ isWhole }: { isWhole: boolean }): WhatIfReport {
    const { question, provider } = this.#options;
    return this.#tally.report({ question, isWhole, provider });
  }

  #takeVerified(entry: LedgerEntry): void {
    const { provider, question } = this.#options;
    const { payload } = this.#entries.open(entry);
    this.#tally.noteReceipt();
    if (!isAsked(payload, question)) return;
    // A receipt whose record is rejected counts as unverified.
    this.#tally.note(this.#changed(verifyRecord(entry.record, entry.receipt, provider)));
  }

  #changed(record: BoundaryRecord): Changed {
    const { draft, ceilings, policyOf } = this.#options;
    const { policy_hash: hash } = record;
    const recorded = hash === null ? 'none' : (policyOf(hash) ?? 'unknown');
    return changeOf(record, decideAgain(record, { draft, recorded, ceilings }));
  }
}
