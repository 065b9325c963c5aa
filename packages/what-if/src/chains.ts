import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';

type Link = { payload: ReceiptPayload; receipt_hash: string };

/** The chains of a tenant's sessions, read from their ends: what is left out, inserted or changed breaks a link. */
export class ChainsFromTheEnd {
  /** The expected predecessor of the last seen receipt, for each session. */
  readonly #expected = new Map<string, { lamport: number; hash: string | null }>();

  /** Does it stand directly before the one that was seen last in its session? */
  add({ payload, receipt_hash }: Link): boolean {
    const { session_id: session, lamport_clock: lamport, prev_hash: prevHash } = payload;
    const expected = this.#expected.get(session);
    this.#expected.set(session, { lamport: lamport - 1, hash: prevHash });
    if ((lamport === 1) !== (prevHash === null)) return false;
    return expected === undefined || (expected.lamport === lamport && expected.hash === receipt_hash);
  }
}
