import { Digest, ReceiptId, WorkspaceId } from '@countersign/contracts';
import { AuditedService, citedMax } from '@countersign/contracts/commercial-gateway';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { matchesAuditEntry, matchesReceipt } from './frameworks/evidence-query.ts';
import { evidenceKindOf, type EvidenceName } from './frameworks/evidence-kinds.ts';
import type { Framework } from './frameworks/framework.ts';

const CitedReceipt = z.strictObject({ workspace_id: WorkspaceId, receipt_id: ReceiptId, receipt_hash: Digest });
type CitedReceipt = z.infer<typeof CitedReceipt>;
const CitedEntry = z.strictObject({
  seq: z.int(),
  hash: Digest,
  chain: z.strictObject({ service: AuditedService, workspace_id: WorkspaceId }).optional(),
});
type CitedEntry = z.infer<typeof CitedEntry>;

const Counts = z.strictObject({ receipts: z.int(), auditEntries: z.int() });
type Counts = z.infer<typeof Counts>;

const ControlTally = z.strictObject({
  ...Counts.shape,
  citedReceipts: z.array(CitedReceipt),
  citedEntries: z.array(CitedEntry),
});
type ControlTally = z.infer<typeof ControlTally>;

/** The state of the tally. Its size does not depend on the number of receipts. */
export const TallyState = z.strictObject({
  kinds: z.record(z.string(), Counts),
  controls: z.record(z.string(), ControlTally),
});
export type TallyState = z.infer<typeof TallyState>;

type VerifiedReceipt = { readonly payload: ReceiptPayload; readonly receipt_hash: string };

type TalliedEntry = { action: string; seq: number; hash: string; chain: NonNullable<CitedEntry['chain']> | null };

/** Counts the evidence of each control of a framework. */
export class EvidenceTally {
  readonly #framework: Framework;
  readonly #state: TallyState;
  readonly #names: readonly EvidenceName[];

  /** Continues with `state`, which must belong to the same framework. */
  constructor(framework: Framework, state: TallyState | null) {
    this.#framework = framework;
    this.#names = [...new Set(framework.controls.flatMap(({ evidence }) => evidence))];
    this.#state = structuredClone(state) ?? emptyState(framework, this.#names);
  }

  get state(): TallyState {
    return structuredClone(this.#state);
  }

  countsOf(name: EvidenceName): Counts {
    return this.#state.kinds[name] ?? { receipts: 0, auditEntries: 0 };
  }

  controlOf(id: string): ControlTally {
    return this.#state.controls[id] ?? emptyControl();
  }

  /** Adds a receipt. The caller must verify it and must add it only once. */
  addReceipt(workspaceId: WorkspaceId, { payload, receipt_hash }: VerifiedReceipt): void {
    const names = this.#names.filter((name) => {
      const { receipts } = evidenceKindOf(name);
      return receipts !== undefined && matchesReceipt(receipts, payload);
    });
    if (names.length === 0) return;
    const cited = {
      workspace_id: workspaceId,
      receipt_id: payload.receipt_id,
      receipt_hash: Digest.parse(receipt_hash),
    };
    this.#count(names, 'receipts', (tally) => {
      tally.citedReceipts = withLowest(tally.citedReceipts, cited, (one) => one.receipt_hash);
    });
  }

  /**
   * Adds an entry of a verified chain. The caller must add it only once. `chain` is `null` for the chain of the
   * organisation.
   */
  addAuditEntry({ action, seq, hash, chain }: TalliedEntry): void {
    const entry = { keeper: chain?.service ?? 'commercial-gateway', action } as const;
    const names = this.#names.filter((name) => {
      const { audit } = evidenceKindOf(name);
      return audit !== undefined && matchesAuditEntry(audit, entry);
    });
    if (names.length === 0) return;
    const cited = { seq, hash: Digest.parse(hash), ...(chain === null ? {} : { chain }) };
    this.#count(names, 'auditEntries', (tally) => {
      tally.citedEntries = withLowest(tally.citedEntries, cited, (one) => one.hash);
    });
  }

  #count(names: readonly EvidenceName[], counter: keyof Counts, cite: (tally: ControlTally) => void): void {
    for (const name of names) {
      const counts = this.#state.kinds[name];
      if (counts !== undefined) counts[counter] += 1;
    }
    for (const { id, evidence } of this.#framework.controls) {
      const tally = this.#state.controls[id];
      if (tally === undefined || !evidence.some((name) => names.includes(name))) continue;
      tally[counter] += 1;
      cite(tally);
    }
  }
}

/**
 * Adds the item, and returns the `citedMax` items with the lowest keys, sorted. The key of a receipt is its hash, which
 * covers its signature. The author of an action can therefore not control whether its receipt is cited.
 */
function withLowest<Item>(items: Item[], item: Item, keyOf: (item: Item) => string): Item[] {
  const last = items.at(-1);
  if (items.length >= citedMax && last !== undefined && keyOf(item) >= keyOf(last)) return items;
  return [...items, item].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).slice(0, citedMax);
}

function emptyState({ controls }: Framework, names: readonly EvidenceName[]): TallyState {
  return {
    kinds: Object.fromEntries(names.map((name) => [name, { receipts: 0, auditEntries: 0 }])),
    controls: Object.fromEntries(controls.map(({ id }) => [id, emptyControl()])),
  };
}

function emptyControl(): ControlTally {
  return { receipts: 0, auditEntries: 0, citedReceipts: [], citedEntries: [] };
}
