import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';

type Link = { payload: ReceiptPayload; receipt_hash: string };

/**
 * Checks the chains of a tenant's sessions, newest receipt first. A receipt that was inserted or changed breaks a link.
 * A removed receipt does too, unless it was the newest of its session.
 */
export class ChainsFromTheEnd {
  /** The expected predecessor of the last seen receipt, for each session. */
  readonly #expected = new Map<string, { lamport: number; hash: string | null }>();

  /**
   * Whether the receipt directly precedes the last seen receipt of its session. `true` for the first seen receipt of a
   * session.
   */
  add({ payload, receipt_hash }: Link): boolean {
    const { session_id: session, lamport_clock: lamport, prev_hash: prevHash } = payload;
    const expected = this.#expected.get(session);
    this.#expected.set(session, { lamport: lamport - 1, hash: prevHash });
    if ((lamport === 1) !== (prevHash === null)) return false;
    return expected === undefined || (expected.lamport === lamport && expected.hash === receipt_hash);
  }
}
