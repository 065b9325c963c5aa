import { Approvals } from './approval-uses.ts';
import { need } from './fault.ts';
import { receiptHash } from './receipt.ts';
import type { Entry, Payload, Sealed } from './statements.ts';
import { canonical } from './strict-json.ts';

type Decision = { payload: Payload; record: Sealed | undefined };
type Place = { hash: string; logIndex: number | undefined };

/**
 * Where the receipts of one tenant and session may begin in this export (10.2): only at position 1, or at any position.
 */
export type Beginning = 'at 1' | 'anywhere';

/** The receipts of one tenant and session, in their order (10). */
export class Chain {
  readonly session: string;
  readonly tenant: string;
  readonly first: number;
  readonly places = new Map<number, Place>();
  readonly approvals: Approvals;
  last = 0;
  lastHash: string | null = null;
  #lastTime = '';
  #lastIndex = -1;
  readonly #decisions = new Map<string, Decision>();
  readonly #finished = new Set<string>();

  constructor({ tenant_id, session_id, lamport_clock }: Payload, beginning: Beginning) {
    need(beginning === 'anywhere' || lamport_clock === 1, 'CHAIN_GAP', '10.2');
    this.tenant = tenant_id;
    this.session = session_id;
    this.first = lamport_clock;
    this.approvals = new Approvals({ beginsAtOne: lamport_clock === 1 });
  }

  /** Takes the next receipt. Throws the code of the clause that it breaks. */
  take({ receipt, record, proof }: Entry): void {
    const { payload } = receipt;
    const { lamport_clock: clock, prev_hash, issued_at } = payload;
    if (this.last > 0) {
      need(clock >= this.first, 'CHAIN_GAP', '10.2');
      need(clock > this.last, 'CHAIN_FORK', '10.2');
      need(clock === this.last + 1, 'CHAIN_GAP', '10.2');
    }
    need((prev_hash === null) === (clock === 1), 'PREV_HASH_MISMATCH', '10.3');
    need(this.lastHash === null || prev_hash === this.lastHash, 'PREV_HASH_MISMATCH', '10.3');
    need(issued_at >= this.#lastTime, 'TIME_MISMATCH', '10.4');
    if (payload.kind === 'decision') this.#decisions.set(payload.receipt_id, { payload, record });
    if (payload.kind === 'outcome') this.#takeOutcome(payload);
    this.last = clock;
    this.lastHash = receiptHash(receipt);
    this.#lastTime = issued_at;
    this.places.set(clock, { hash: this.lastHash, logIndex: proof?.log_index });
  }

  /** Throws unless the log positions rise along the chain (9.8). */
  takePlace({ proof }: Entry): void {
    if (proof === undefined) return;
    need(proof.log_index > this.#lastIndex, 'TIME_MISMATCH', '9.8');
    this.#lastIndex = proof.log_index;
  }

  /** The number of allowed calls of the kernel without an outcome (11.11). */
  openCalls(): number {
    const calls = [...this.#decisions].filter(([id, { payload, record }]) => {
      return (
        payload.verdict === 'ALLOW' && !payload.shadow && record?.dispatched_by === 'kernel' && !this.#finished.has(id)
      );
    });
    return calls.length;
  }

  /** The entry of the session under `sessions_root` (11.5). */
  sessionEntry(): Buffer {
    const { first, last, lastHash: receipt_hash, session: session_id } = this;
    return Buffer.from(canonical({ first, last, receipt_hash, session_id }));
  }

  #takeOutcome(outcome: Payload): void {
    const id = String(outcome['decision_receipt_id']); // 10.5
    need(!this.#finished.has(id), 'DUPLICATE', '10.5');
    this.#finished.add(id);
    const decision = this.#decisions.get(id);
    if (decision === undefined) return need(this.first > 1, 'LINK_MISMATCH', '10.5');
    assertOutcome(outcome, decision);
  }
}

const ownOfOutcome: ReadonlySet<string> = new Set([
  ...['receipt_id', 'kind', 'issued_at', 'lamport_clock', 'prev_hash', 'outcome', 'output_hash'],
  ...['decision_receipt_id', 'spend_micros'],
]);

/** Throws unless an outcome matches a decision that can have one (10.6). */
function assertOutcome(outcome: Payload, { payload, record }: Decision): void {
  const code = 'LINK_MISMATCH';
  need(payload.verdict === 'ALLOW' && !payload.shadow, code, '10.6');
  need(record === undefined || record.dispatched_by === 'kernel', code, '10.6');
  const names = new Set([...Object.keys(outcome), ...Object.keys(payload)]);
  for (const name of names) need(ownOfOutcome.has(name) || outcome[name] === payload[name], code, `10.6 ${name}`);
  const isSpent = Object.hasOwn(outcome, 'spend_micros');
  need(isSpent === Object.hasOwn(payload, 'spend_micros'), code, '10.6');
}
