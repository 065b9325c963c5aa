import type { BoundaryRecord, PeriodHeader, PeriodStatement } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { emptyTally, tallied, tallyOf } from '@countersign/receipts';
import { ChainLinks } from './chain-links.ts';
import { UsedApprovals } from './used-approvals.ts';
import { VerificationError } from './verification-error.ts';
import type { OpenedReceipt } from './verify-receipt.ts';

/** The subject of a period. `stated` is `null` until the statement has arrived and matches. */
export type PeriodSummary = Pick<PeriodHeader, 'tenant_id' | 'from' | 'to'> & {
  sessions: number;
  stated: Pick<PeriodStatement, 'sessions' | 'receipts' | 'as_of' | 'log_size'> | null;
};

type PeriodOptions = {
  provider: CryptoProvider;
  /** Hashes of receipts with which a session's part must end. */
  heads?: readonly string[] | undefined;
};

/**
 * The receipts of a period, session by session: each session's part is a chain that may begin late and end early, and
 * occurs once. Receipts are counted as by the kernel that exported them. Only the name of a finished session stays in
 * memory.
 */
export class PeriodLinks {
  readonly #period: PeriodHeader;
  readonly #provider: CryptoProvider;
  readonly #heads: Set<string>;
  readonly #names = new Set<string>();
  #links: ChainLinks | null = null;
  #session: string | null = null;
  #tally = emptyTally;
  #statement: PeriodStatement | null = null;
  /** The approvals of the session that is being read. */
  approvals = new UsedApprovals();

  constructor(period: PeriodHeader, { provider, heads }: PeriodOptions) {
    this.#period = period;
    this.#provider = provider;
    this.#heads = new Set(heads);
  }

  /**
   * Throws {@link VerificationError}: `PERIOD_MISMATCH` for a receipt outside the period, `MALFORMED` for one after the
   * statement, `DUPLICATE`, and those of {@link ChainLinks}.
   */
  add(opened: OpenedReceipt): void {
    const { tenant_id, session_id, issued_at } = opened.payload;
    const { tenant_id: tenant, from, to } = this.#period;
    if (this.#statement !== null)
      throw new VerificationError('MALFORMED', 'a receipt follows the statement, which must be last');
    if (tenant_id !== tenant) throw mismatch(`a receipt of the tenant ${tenant_id}`);
    // Instants have one length, so their texts compare like times.
    if (issued_at < from || issued_at >= to) throw mismatch(`a receipt issued at ${issued_at}`);
    if (this.#links === null || this.#session !== session_id) this.#links = this.#begin(session_id);
    this.#links.add(opened);
  }

  /** Adds the record of the last receipt. */
  learn(record: BoundaryRecord): void {
    this.#links?.learn(record);
  }

  /**
   * Checks that the received receipts are those that the kernel states. Throws `PERIOD_MISMATCH`. Missing receipts are
   * only reported by `missing`.
   */
  expect(tenant: string, statement: PeriodStatement): void {
    this.#end();
    const { tenant_id, from, to } = this.#period;
    if (this.#statement !== null) throw new VerificationError('DUPLICATE', 'a second statement of the period');
    if (tenant !== tenant_id) throw mismatch(`a statement about the tenant ${tenant}`);
    if (statement.from !== from || statement.to !== to)
      throw mismatch(`a statement about the period ${statement.from} to ${statement.to}`);
    const { sessions, receipts, sessions_root } = tallyOf(this.#provider, this.#tally);
    const isShort = receipts < statement.receipts && sessions <= statement.sessions;
    const isWhole = sessions_root === statement.sessions_root && receipts === statement.receipts;
    if (!isShort && !(isWhole && sessions === statement.sessions))
      throw mismatch(`${receipts} receipts of ${sessions} sessions, which differ from its statement`);
    this.#statement = statement;
  }

  get receipts(): number {
    return this.#tally.receipts + (this.#links?.receipts ?? 0);
  }

  get summary(): PeriodSummary {
    const { tenant_id, from, to } = this.#period;
    return { tenant_id, from, to, sessions: this.#names.size, stated: statedBy(this.#statement) };
  }

  /** The missing items as text. */
  missing(): string[] {
    if (this.#statement === null) return ['the statement of the period, which stands at its end'];
    const heads = [...this.#heads].map((head) => `no session ends with ${head}`);
    const gone = this.#statement.receipts - this.receipts;
    return gone === 0 ? heads : [`${gone} of the ${this.#statement.receipts} receipts of the period`, ...heads];
  }

  #begin(session: string): ChainLinks {
    this.#end();
    if (this.#names.has(session)) throw new VerificationError('DUPLICATE', `the session ${session} occurs twice`);
    this.#names.add(session);
    this.#session = session;
    this.approvals = new UsedApprovals();
    return new ChainLinks({ partial: true });
  }

  #end(): void {
    const [chain] = this.#links?.summaries() ?? [];
    this.#links = null;
    if (chain === undefined) return;
    const { session_id, first, last, head: receipt_hash } = chain;
    this.#tally = tallied(this.#provider, this.#tally, { session_id, first, last, receipt_hash });
    this.#heads.delete(receipt_hash);
  }
}

function statedBy(statement: PeriodStatement | null): PeriodSummary['stated'] {
  if (statement === null) return null;
  const { sessions, receipts, as_of, log_size } = statement;
  return { sessions, receipts, as_of, log_size };
}

function mismatch(found: string): VerificationError {
  return new VerificationError('PERIOD_MISMATCH', `the export covers a period, but contains ${found}`);
}
