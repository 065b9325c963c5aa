import type { Announcement } from './announcement.ts';
import type { Evidence } from './evidence.ts';
import { need } from './fault.ts';
import { digestText, isDigest } from './forms.ts';
import { rootOf } from './merkle-tree.ts';
import type { Json } from './strict-json.ts';

const code = 'PERIOD_MISMATCH';

/**
 * Throws unless the sums of a period or pack match its receipts (11.4, 11.5). With `mayLack`, missing receipts are not
 * an error.
 */
export function assertTotals(
  evidence: Evidence,
  { facts, proof }: Announcement,
  { mayLack }: { mayLack: boolean },
): void {
  const chains = [...evidence.chains.values()];
  const { receipts, sessions, sessions_root, log_size, log_root } = facts;
  need([receipts, sessions, log_size].every(isCount) && isDigest(sessions_root) && isDigest(log_root), code, '11.4');
  const root = digestText(rootOf(chains.map((chain) => chain.sessionEntry()))); // 11.5
  if (mayLack && Number(receipts) > evidence.receipts)
    evidence.missing.add('receipts of the statement'); // 12.2
  else {
    need(sessions_root === root, code, '11.5');
    need(receipts === evidence.receipts && sessions === chains.length, code, '11.4');
  }
  assertLogOf(evidence, { size: Number(log_size), root: log_root });
  const places = chains.flatMap((chain) => [...chain.places.values()]);
  need(
    places.every(({ logIndex }) => logIndex === undefined || logIndex < Number(log_size)),
    code,
    '11.4',
  );
  need(proof.log_index >= Number(log_size), code, '11.4');
}

function assertLogOf({ checkpoints }: Evidence, log: { size: number; root: string }): void {
  const signed = checkpoints.find(({ size }) => size === log.size);
  if (log.size === 0 && signed === undefined) return need(log.root === digestText(rootOf([])), code, '11.4');
  need(signed !== undefined && digestText(signed.root) === log.root, code, '11.4');
}

function isCount(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
