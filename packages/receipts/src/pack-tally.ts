import type { Digest } from '@countersign/contracts';
import {
  evidencePackFormat,
  type BoundaryRecord,
  type PackCounts,
  type ReceiptPayload,
} from '@countersign/contracts/governance-kernel';
import { concatBytes, encodeHex, utf8Bytes, type CryptoProvider } from '@countersign/crypto';
import { emptyTally, tallied, tallyOf } from './period-tally.ts';

type Counted = { payload: ReceiptPayload; receiptHash: string; record: BoundaryRecord | undefined };
type SessionRange = { session_id: string; first: number; last: number; receipt_hash: string };

/**
 * The kinds of credentials that belong to one person. The operator key is not listed, because all operators share it.
 */
const ofPersons: ReadonlySet<unknown> = new Set(['passkey', 'ed25519', 'access_key', 'assertion']);

/**
 * The counts of a pack, line by line. The kernel and the verifier use the same code, so the statement of a pack must
 * match its lines. The tally stores the ends of sessions and the ids of calls without an outcome.
 */
export class PackTally {
  readonly #provider: CryptoProvider;
  readonly #ranges = new Map<string, SessionRange>();
  readonly #openCalls = new Set<string>();
  #lines: Uint8Array;
  #records = 0;
  #receipts = 0;
  #policies = 0;
  #unbackedVotes = 0;

  constructor(provider: CryptoProvider) {
    this.#provider = provider;
    this.#lines = provider.sha256(utf8Bytes(evidencePackFormat));
  }

  /**
   * Adds a line without its line feed. The hash over all lines is SHA-256 of the previous hash and the SHA-256 of the
   * line.
   */
  addLine(line: Uint8Array): void {
    this.#lines = this.#provider.sha256(concatBytes(this.#lines, this.#provider.sha256(line)));
  }

  addPolicy(): void {
    this.#policies += 1;
  }

  addReceipt({ payload, receiptHash, record }: Counted): void {
    const { session_id, lamport_clock, decision_receipt_id: settles } = payload;
    this.#receipts += 1;
    const range = this.#ranges.get(session_id);
    if (range === undefined) {
      const first = lamport_clock;
      this.#ranges.set(session_id, { session_id, first, last: first, receipt_hash: receiptHash });
    } else {
      range.last = lamport_clock;
      range.receipt_hash = receiptHash;
    }
    if (settles !== undefined) this.#openCalls.delete(settles);
    if (record === undefined) return;
    this.#records += 1;
    if (isDispatched(record) && !payload.shadow) this.#openCalls.add(payload.receipt_id);
    if (isUnbackedVote(record)) this.#unbackedVotes += 1;
  }

  counts(): PackCounts {
    let tally = emptyTally;
    for (const range of this.#ranges.values()) tally = tallied(this.#provider, tally, range);
    const { sessions, sessions_root } = tallyOf(this.#provider, tally);
    return {
      receipts: this.#receipts,
      records: this.#records,
      policies: this.#policies,
      sessions,
      sessions_root,
      open_calls: this.#openCalls.size,
      unbacked_votes: this.#unbackedVotes,
      lines_hash: `sha256:${encodeHex(this.#lines)}` as Digest, // the format of Digest
    };
  }
}

function isDispatched({ kind, verdict, dispatched_by: by }: BoundaryRecord): boolean {
  return kind === 'decision' && verdict === 'ALLOW' && by === 'kernel';
}

function isUnbackedVote({ kind, verdict, intent: { action, facts } }: BoundaryRecord): boolean {
  const isVote = kind === 'break_glass' || (kind === 'approval' && action === 'approval.approve');
  return isVote && verdict === 'ALLOW' && !ofPersons.has(facts['credential']);
}
