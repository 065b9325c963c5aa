import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { OpenedReceipt } from './verify-receipt.ts';

/** How many there are, and the first of them. */
export type Count = { count: number; first: string | null };

/** What a receipt came with: its record, and the time of the checkpoint that has it. */
type Beside = { record: BoundaryRecord | undefined; witnessed: string | null };

const none: Count = { count: 0, first: null };

/** What the lines up to the first fault held. */
export class ExportEvidence {
  records = 0;
  proofs = 0;
  heads = 0;
  /** Receipts without their record, and without a place in the log. */
  bare = none;
  unproven = none;
  brokenGlass = none;
  /** Outcomes that nobody knows, with an output all the same. */
  issuerDefects = none;
  readonly keys = new Set<string>();
  times: { first: string; last: string; witnessed: string | null } | null = null;

  /** A receipt that holds, with what it came with. An outcome has no record of its own. */
  take({ payload, key }: OpenedReceipt, { record, witnessed }: Beside): void {
    const { kind, receipt_id, issued_at, outcome, output_hash } = payload;
    if (record !== undefined) this.records += 1;
    else if (kind !== 'outcome') this.bare = widened(this.bare, receipt_id);
    if (kind === 'break_glass') this.brokenGlass = widened(this.brokenGlass, receipt_id);
    if (outcome === 'uncertain' && output_hash !== undefined)
      this.issuerDefects = widened(this.issuerDefects, receipt_id);
    if (witnessed === null) this.unproven = widened(this.unproven, receipt_id);
    else this.proofs += 1;
    this.keys.add(key.key_id);
    this.times = spanOf(this.times, issued_at, witnessed);
  }
}

function widened({ count, first }: Count, receiptId: string): Count {
  return { count: count + 1, first: first ?? receiptId };
}

function spanOf(times: ExportEvidence['times'], issuedAt: string, witnessed: string | null): ExportEvidence['times'] {
  return {
    first: times === null || issuedAt < times.first ? issuedAt : times.first,
    last: times === null || issuedAt > times.last ? issuedAt : times.last,
    witnessed: latest(witnessed, times?.witnessed ?? null),
  };
}

/** When all that was seen had been seen. */
function latest(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other > one) ? other : one;
}
