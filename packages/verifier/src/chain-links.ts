import type { BoundaryRecord, HeadStatement, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { IdMarks } from './id-marks.ts';
import { VerificationError } from './verification-error.ts';
import { verifyOutcome } from './verify-outcome.ts';

/**
 * The known facts about one tenant's session. `start` and `end` state whether receipts could be missing at that end
 * without being noticed.
 */
export type ChainSummary = {
  tenant_id: string;
  session_id: string;
  first: number;
  last: number;
  head: string;
  start: 'PROVEN' | 'UNPROVEN';
  /** `CUT`: the head statement proves a later end than that of the last receipt, so receipts are missing. */
  end: 'PROVEN' | 'UNPROVEN' | 'CUT';
  /** The instant of the head statement that proves either the end or that the chain is cut. */
  end_as_of: string | null;
  /** The position of the last receipt, as the head statement states it. `null` without a head statement. */
  stated_end: number | null;
};

type End = Pick<ChainSummary, 'end' | 'end_as_of' | 'stated_end'>;
type Chain = ChainSummary & { issued_at: string };
type KnownHead = HeadStatement & { tenant_id: string };

export type LinkOptions = {
  /** Accepts chains that begin after their first receipt. Their start is then reported as UNPROVEN. */
  partial?: boolean | undefined;
  /** Hashes of receipts known to be the last of their chains. */
  heads?: readonly string[] | undefined;
};

/**
 * `endless`: a decision that cannot have an outcome. It permitted nothing, or its record states that a party other than
 * the kernel executes the call.
 */
const mark = { shown: 1, endless: 2, settled: 4 } as const;

/**
 * Verifies the links of each tenant and session, receipt by receipt. Positions are 1, 2, 3 … in this order. Each
 * receipt contains the hash of its predecessor and was not issued before it. Each outcome follows its decision. Memory
 * contains only the members that later receipts are compared with.
 */
export class ChainLinks {
  readonly #options: LinkOptions;
  readonly #chains = new Map<string, Chain>();
  readonly #heads = new Map<string, KnownHead>();
  /** The marks of receipts, by their ids. */
  readonly #marks = new IdMarks();
  #receipts = 0;
  /** Decisions that permitted a call, and have no outcome yet. */
  readonly #open = new Map<string, ReceiptPayload>();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Adds the head statement of a chain. Call it before the receipts of the chain. Throws `DUPLICATE`. */
  expectHead(head: KnownHead): void {
    const name = nameOf(head);
    if (this.#heads.has(name))
      throw new VerificationError('DUPLICATE', `the session ${head.session_id} has two head statements`);
    this.#heads.set(name, head);
  }

  /**
   * Throws {@link VerificationError}: `DUPLICATE`, `CHAIN_GAP`, `CHAIN_FORK`, `PREV_HASH_MISMATCH`, `TIME_MISMATCH`,
   * `HEAD_MISMATCH`, `LINK_MISMATCH`.
   */
  add({ payload, receipt_hash }: { payload: ReceiptPayload; receipt_hash: string }): void {
    const { receipt_id } = payload;
    if ((this.#marks.get(receipt_id) & mark.shown) !== 0)
      throw new VerificationError('DUPLICATE', `receipt ${receipt_id} occurs twice`);
    const name = nameOf(payload);
    const chain = this.#chains.get(name);
    if (chain === undefined) this.#chains.set(name, this.#begin(payload, receipt_hash));
    else extend(chain, payload, receipt_hash);
    this.#assertHead(name, payload, receipt_hash);
    this.#settle(payload, { isWhole: this.#chains.get(name)?.first === 1 });
    this.#marks.add(receipt_id, mark.shown);
    this.#receipts += 1;
  }

  /** Adds the record of the last receipt. The kernel knows the outcome of a call only if it executed the call. */
  learn({ kind, receipt_id, dispatched_by: by }: BoundaryRecord): void {
    if (kind !== 'decision' || by === 'kernel') return;
    this.#marks.add(receipt_id, mark.endless);
    this.#open.delete(receipt_id);
  }

  get receipts(): number {
    return this.#receipts;
  }

  /** Chains with receipts in the evidence. Chains known only by a head statement are omitted. */
  summaries(): ChainSummary[] {
    return [...this.#chains].map(([name, { issued_at: _at, ...chain }]) => ({ ...chain, ...this.#endOf(name, chain) }));
  }

  /** Head statements of chains without receipts in the evidence. */
  absentChains(): KnownHead[] {
    return [...this.#heads].flatMap(([name, head]) => (this.#chains.has(name) ? [] : [head]));
  }

  /** Known heads that no chain ends with. */
  missingHeads(): string[] {
    const reached = new Set([...this.#chains.values()].map(({ head }) => head));
    return (this.#options.heads ?? []).filter((head) => !reached.has(head));
  }

  #begin(payload: ReceiptPayload, head: string): Chain {
    const { tenant_id, session_id, lamport_clock: position, prev_hash, issued_at } = payload;
    if (position !== 1 && this.#options.partial !== true)
      throw new VerificationError('CHAIN_GAP', `the chain begins at position ${position}, not at 1`);
    if ((position === 1) !== (prev_hash === null))
      throw new VerificationError(
        'PREV_HASH_MISMATCH',
        'the first receipt of a chain must have no predecessor, and every other receipt must have one',
      );
    const start = position === 1 ? 'PROVEN' : 'UNPROVEN';
    const end = { end: 'UNPROVEN', end_as_of: null, stated_end: null } as const;
    return { tenant_id, session_id, first: position, last: position, head, start, ...end, issued_at };
  }

  /** A head statement proves the end at its own place. If the chain has grown since, its new end is unknown. */
  #endOf(name: string, { last, head }: Pick<ChainSummary, 'last' | 'head'>): End {
    const existing = this.#heads.get(name);
    const stated_end = existing?.lamport_clock ?? null;
    if (existing !== undefined && last < existing.lamport_clock)
      return { end: 'CUT', end_as_of: existing.as_of, stated_end };
    if (existing?.lamport_clock === last) return { end: 'PROVEN', end_as_of: existing.as_of, stated_end };
    const isPinned = this.#options.heads?.includes(head) === true;
    return { end: isPinned ? 'PROVEN' : 'UNPROVEN', end_as_of: null, stated_end };
  }

  #assertHead(name: string, { lamport_clock }: ReceiptPayload, receiptHash: string): void {
    const head = this.#heads.get(name);
    if (head?.lamport_clock === lamport_clock && head.receipt_hash !== receiptHash)
      throw new VerificationError(
        'HEAD_MISMATCH',
        `the head statement does not name the receipt at position ${lamport_clock}`,
      );
  }

  /**
   * An outcome follows its decision once, in the same chain. In a part of a chain, the decision may precede the part.
   */
  #settle(payload: ReceiptPayload, { isWhole }: { isWhole: boolean }): void {
    const { kind, receipt_id, verdict, shadow, decision_receipt_id: settles } = payload;
    if (kind === 'decision' && verdict === 'ALLOW' && !shadow) this.#open.set(receipt_id, payload);
    else if (kind === 'decision') this.#marks.add(receipt_id, mark.endless);
    if (settles === undefined) return;
    const marks = this.#marks.get(settles);
    if ((marks & mark.settled) !== 0) throw new VerificationError('DUPLICATE', `${settles} has two outcomes`);
    if ((marks & mark.endless) !== 0)
      throw new VerificationError(
        'LINK_MISMATCH',
        `the kernel did not execute ${settles}, so it cannot have an outcome`,
      );
    this.#marks.add(settles, mark.settled);
    const decided = this.#open.get(settles);
    if (decided !== undefined) verifyOutcome(payload, decided);
    else if (isWhole)
      throw new VerificationError(
        'LINK_MISMATCH',
        `no earlier receipt of the chain is the decision that the outcome settles`,
      );
    this.#open.delete(settles);
  }
}

function extend(chain: Chain, payload: ReceiptPayload, receiptHash: string): void {
  const { lamport_clock: position, prev_hash, issued_at } = payload;
  if (position > chain.last + 1)
    throw new VerificationError(
      'CHAIN_GAP',
      `position ${position} follows position ${chain.last}: receipts between them are missing`,
    );
  if (position < chain.first)
    throw new VerificationError(
      'CHAIN_GAP',
      `position ${position} comes after position ${chain.first}, the first one of the chain here`,
    );
  if (position <= chain.last)
    throw new VerificationError('CHAIN_FORK', `position ${position} already belongs to another receipt`);
  if (prev_hash !== chain.head)
    throw new VerificationError(
      'PREV_HASH_MISMATCH',
      `the receipt at position ${position} does not name the receipt before it`,
    );
  // Instants have one length, so their texts compare like times.
  if (issued_at < chain.issued_at)
    throw new VerificationError(
      'TIME_MISMATCH',
      `the receipt at position ${position} was issued before its predecessor`,
    );
  chain.last = position;
  chain.head = receiptHash;
  chain.issued_at = issued_at;
}

function nameOf({ tenant_id, session_id }: { tenant_id: string; session_id: string }): string {
  return `${tenant_id}\n${session_id}`; // a name contains no line feed
}
