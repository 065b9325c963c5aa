import type { AuditVerdict, Digest } from '@countersign/contracts';
import type { ScopedAuditEntry } from '@countersign/contracts/control-plane';
import type { AuditEntry } from '@countersign/contracts/gateway';
import type { Lasting } from '../workspace/read-newest.ts';

/** Each service keeps its own chain. */
export type Chain = 'workspace' | 'control-plane';

export type AuditRow = {
  id: string;
  chain: Chain;
  seq: number;
  createdAt: string;
  action: string;
  verdict: AuditVerdict;
  actor: string;
  reason: string;
  hash: Digest;
  prevHash: Digest | null;
};

/** `id` is what `countersign audit ls` prints. */
export function workspaceRow(entry: AuditEntry): AuditRow {
  const { seq, createdAt, action, verdict, actor, reason, hash, prevHash } = entry;
  return { id: String(seq), chain: 'workspace', seq, createdAt, action, verdict, actor, reason, hash, prevHash };
}

export function controlPlaneRow(entry: ScopedAuditEntry): AuditRow {
  const { seq, created_at: createdAt, action, verdict, actor, reason, hash, prev_hash: prevHash } = entry;
  const report = { seq, createdAt, action, verdict, actor, reason, hash, prevHash };
  return { id: `control-plane/${seq}`, chain: 'control-plane', ...report };
}

/**
 * Merges both chains into one list, newest first. The order within each chain stays the same. The list ends at the last
 * read entry of a chain that has more entries. Its next entry may be newer than the rest of the other chain.
 */
export function mergeChains(chains: readonly Lasting<AuditRow>[]): Lasting<AuditRow> {
  const places = chains.map(({ items, next }) => ({ items, next, at: 0 }));
  const items: AuditRow[] = [];
  while (!places.some(({ items: rows, next, at }) => at === rows.length && next !== null)) {
    const [newest] = places
      .filter((place) => place.at < place.items.length)
      .sort((a, b) => compareText(headOf(b), headOf(a)));
    const row = newest?.items[newest.at];
    if (newest === undefined || row === undefined) break;
    items.push(row);
    newest.at += 1;
  }
  const next = chains.find((chain) => chain.next !== null)?.next ?? null;
  return { items, next, newer: chains.reduce((sum, { newer }) => sum + newer, 0) };
}

function headOf({ items, at }: { items: readonly AuditRow[]; at: number }): string {
  return items[at]?.createdAt ?? '';
}

/** All instants have the same text form, so alphabetical order is order in time. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export type Link = { newest: number; oldest: number; brokenAt: number | null };

/**
 * Checks that each entry contains the hash of the entry before it. `rows` are the read entries of one unfiltered chain,
 * newest first. `null` when there are none.
 */
export function linkOf(rows: readonly AuditRow[]): Link | null {
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (newest === undefined || oldest === undefined) return null;
  const broken = rows.find((row, nth) => {
    const before = rows[nth + 1];
    if (before === undefined) return row.seq === 1 && row.prevHash !== null;
    return row.seq !== before.seq + 1 || row.prevHash !== before.hash;
  });
  return { newest: newest.seq, oldest: oldest.seq, brokenAt: broken?.seq ?? null };
}
