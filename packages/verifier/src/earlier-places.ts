import { VerificationError } from './verification-error.ts';
import type { OpenedReceipt } from './verify-receipt.ts';

type Place = { receiptHash: string; session: string; issuedAt: string; isHere: boolean };
type Scope = { leaves: { from: number; to: number }; sessions: readonly string[] | null; issued: Issued };
type Issued = { from: string; to: string } | null;

/**
 * Which receipt an earlier export has at which place of the log. The log only grows, so a later export of it has the same receipt there, if its scope
 * includes the place.
 */
export class EarlierPlaces {
  readonly #places = new Map<number, Place>();

  /** Notes a receipt of the earlier export. */
  note({ payload, receipt_hash }: OpenedReceipt, place: number): void {
    const { session_id: session, issued_at: issuedAt } = payload;
    this.#places.set(place, { receiptHash: receipt_hash, session, issuedAt, isHere: false });
  }

  /**
   * Compares a receipt of the later one. Throws {@link VerificationError} `CONSISTENCY_UNPROVEN`: they are of two logs.
   */
  compare({ receipt_hash }: OpenedReceipt, place: number): void {
    const earlier = this.#places.get(place);
    if (earlier === undefined) return;
    if (earlier.receiptHash !== receipt_hash)
      throw new VerificationError('CONSISTENCY_UNPROVEN', `the earlier export has another receipt at place ${place}`);
    earlier.isHere = true;
  }

  /** In words. `null`: the later export names no scope, and has all that the earlier one has. */
  missing(scope: Scope | null): string[] {
    const gone = [...this.#places].filter(([place, earlier]) => !earlier.isHere && isWithin(scope, place, earlier));
    const [first] = gone;
    return first === undefined ? [] : [`${gone.length} receipts of the earlier export, the first at place ${first[0]}`];
  }
}

function isWithin(scope: Scope | null, place: number, { session, issuedAt }: Place): boolean {
  if (scope === null) return true;
  const { leaves, sessions, issued } = scope;
  const isIssued = issued === null || (issuedAt >= issued.from && issuedAt < issued.to);
  return place >= leaves.from && place < leaves.to && sessions?.includes(session) !== false && isIssued;
}
