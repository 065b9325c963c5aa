import type { BoundaryRecord, EvidenceScope, ReportedKey } from '@countersign/contracts/governance-kernel';
import type { EarlierPlaces } from './earlier-places.ts';
import type { TrustedKey } from './trusted-keys.ts';
import type { OpenedReceipt } from './verify-receipt.ts';
import type { PlaceSpan } from './witnessed-log.ts';
import { WantedItems, type WantedOptions } from './wanted-items.ts';

/** The number of items, and the first of them. */
export type Count = { count: number; first: string | null };

/**
 * The evidence of a receipt: its record, and the times of the last checkpoint without it and of the checkpoint that
 * contains it.
 */
type Beside = {
  record: BoundaryRecord | undefined;
  before: string | null;
  logged: string | null;
  /** The place in the log. */
  place?: number | undefined;
};

type EvidenceOptions = {
  wanted?: WantedOptions | undefined;
  /** An earlier export for comparison. */
  earlier?: EarlierPlaces | undefined;
  /** Filled with the places of this export, for comparison with a later export. */
  places?: EarlierPlaces | undefined;
};

/**
 * The times that the receipts claim, and the times of the checkpoints between which the log gained the receipts. `null`
 * when the export has no such checkpoint.
 */
type Times = { first: string; last: string; logged_after: string | null; logged_by: string | null };

const none: Count = { count: 0, first: null };

/** The evidence of the lines up to the first fault. */
export class ExportEvidence {
  records = 0;
  proofs = 0;
  heads = 0;
  /** Decisions that were only evaluated. */
  shadows = 0;
  /** `bare` counts receipts without a record, and `unproven` counts receipts without a place in the log. */
  bare = none;
  unproven = none;
  brokenGlass = none;
  /** Outcomes that are `uncertain` and nevertheless have an output. */
  issuerDefects = none;
  readonly keys = new Set<string>();
  readonly #signers = new Map<string, ReportedKey>();
  readonly #wanted: WantedItems;
  readonly #options: EvidenceOptions;
  times: Times | null = null;
  /** `null` when no receipt has a place. */
  span: PlaceSpan | null = null;

  constructor(options: EvidenceOptions = {}) {
    this.#options = options;
    this.#wanted = new WantedItems(options.wanted ?? {});
  }

  /** The keys of the report, each with its purpose. */
  get signers(): ReportedKey[] {
    return [...this.#signers.values()];
  }

  /** Counts one more valid statement of this key. */
  sign({ key_id, purpose }: Pick<TrustedKey, 'key_id' | 'purpose'>): void {
    const { signed } = this.#signers.get(key_id) ?? { signed: 0 };
    this.#signers.set(key_id, { key_id, purpose, signed: signed + 1 });
  }

  /** The missing items as text. */
  missingItems(scope: EvidenceScope | null): string[] {
    return [...this.#wanted.missing(), ...(this.#options.earlier?.missing(scope) ?? [])];
  }

  /** A valid receipt with its evidence. An outcome has no record of its own. */
  take(opened: OpenedReceipt, { record, before, logged, place }: Beside): void {
    const { payload, key } = opened;
    const { kind, receipt_id, issued_at, outcome, output_hash, shadow } = payload;
    if (shadow) this.shadows += 1;
    if (record !== undefined) this.records += 1;
    else if (kind !== 'outcome') this.bare = widened(this.bare, receipt_id);
    if (kind === 'break_glass') this.brokenGlass = widened(this.brokenGlass, receipt_id);
    if (outcome === 'uncertain' && output_hash !== undefined)
      this.issuerDefects = widened(this.issuerDefects, receipt_id);
    if (logged === null) this.unproven = widened(this.unproven, receipt_id);
    else this.proofs += 1;
    this.keys.add(key.key_id);
    this.sign(key);
    this.#wanted.take(opened);
    this.times = spanOf(this.times, { issuedAt: issued_at, before, logged });
    if (place === undefined) return;
    const { first, last } = this.span ?? { first: place, last: place };
    this.span = { first: Math.min(first, place), last: Math.max(last, place) };
    this.#options.earlier?.compare(opened, place);
    this.#options.places?.note(opened, place);
  }
}

function widened({ count, first }: Count, receiptId: string): Count {
  return { count: count + 1, first: first ?? receiptId };
}

type Bounds = Pick<Beside, 'before' | 'logged'> & { issuedAt: string };

function spanOf(times: Times | null, { issuedAt, before, logged }: Bounds): Times {
  if (times === null) return { first: issuedAt, last: issuedAt, logged_after: before, logged_by: logged };
  const { first, last, logged_after, logged_by } = times;
  return {
    first: issuedAt < first ? issuedAt : first,
    last: issuedAt > last ? issuedAt : last,
    // If one receipt has no lower bound, the report has none.
    logged_after: logged_after === null || (before !== null && before > logged_after) ? logged_after : before,
    logged_by: logged !== null && (logged_by === null || logged > logged_by) ? logged : logged_by,
  };
}
