import { equalBytes } from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';
import type { TimedCheckpoint } from './verify-log.ts';
import type { OpenedReceipt } from './verify-receipt.ts';

type Place = { receiptHash: string; session: string; issuedAt: string; isHere: boolean };
type Tree = Pick<TimedCheckpoint, 'origin' | 'size' | 'root'>;
type Scope = { leaves: { from: number; to: number }; sessions: readonly string[] | null; issued: Issued };
type Issued = { from: string; to: string } | null;

const apart =
  'the growth of the log between the exports: this export does not have the last checkpoint of the earlier export';

/**
 * The receipts of an earlier export by their places in the log. The log only grows, so a later export has the same
 * receipt at a place, if its scope includes the place.
 */
export class EarlierPlaces {
  readonly #places = new Map<number, Place>();
  readonly #checkpoints = new Map<number, Tree>();
  /** The number of leaves in the largest tree of the earlier export. */
  #largest = 0;
  #isExtended = false;

  /** Adds a checkpoint of the earlier export. */
  noteCheckpoint(checkpoint: Tree): void {
    this.#checkpoints.set(checkpoint.size, checkpoint);
    this.#largest = Math.max(this.#largest, checkpoint.size);
  }

  /**
   * Compares a checkpoint of the later export. The exports are of one log only if the later one has the largest tree of
   * the earlier one. After a smaller common tree the logs may differ, and all logs share the empty tree. Throws
   * {@link VerificationError} `CONSISTENCY_UNPROVEN`.
   */
  compareCheckpoint({ origin, size, root }: Tree): void {
    const [first] = this.#checkpoints.values();
    if (first !== undefined && first.origin !== origin)
      throw new VerificationError(
        'CONSISTENCY_UNPROVEN',
        `the earlier export is from a different log, ${first.origin}`,
      );
    const earlier = this.#checkpoints.get(size);
    if (earlier === undefined) return;
    if (!equalBytes(earlier.root, root))
      throw new VerificationError(
        'CONSISTENCY_UNPROVEN',
        `the earlier export has a different root for the tree of ${size} leaves`,
      );
    if (size > 0 && size === this.#largest) this.#isExtended = true;
  }

  /** Facts that the comparison cannot show, as text. */
  limits(): string[] {
    return this.#isExtended ? [] : [apart];
  }

  /** Adds a receipt of the earlier export. */
  note({ payload, receipt_hash }: OpenedReceipt, place: number): void {
    const { session_id: session, issued_at: issuedAt } = payload;
    this.#places.set(place, { receiptHash: receipt_hash, session, issuedAt, isHere: false });
  }

  /**
   * Compares a receipt of the later export. Throws {@link VerificationError} `CONSISTENCY_UNPROVEN` when the two
   * exports have different receipts at its place.
   */
  compare({ receipt_hash }: OpenedReceipt, place: number): void {
    const earlier = this.#places.get(place);
    if (earlier === undefined) return;
    if (earlier.receiptHash !== receipt_hash)
      throw new VerificationError(
        'CONSISTENCY_UNPROVEN',
        `the earlier export has a different receipt at place ${place} of the log`,
      );
    earlier.isHere = true;
  }

  /**
   * The missing receipts as text. When `scope` is `null`, the later export must have all receipts of the earlier one.
   */
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
