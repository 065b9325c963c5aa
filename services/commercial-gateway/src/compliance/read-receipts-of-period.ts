import { setImmediate as nextTurn } from 'node:timers/promises';
import { Digest, TenantId, type WorkspaceId } from '@countersign/contracts';
import { ledgerEntriesMax, type LedgerEntry } from '@countersign/contracts/governance-kernel';
import { digestOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { VerificationError, verifyLedgerEntry, type TrustedKeys } from '@countersign/verifier';
import type { Context } from '../context.ts';
import type { EvidenceTally } from './evidence-tally.ts';
import type { WorkspaceTally } from './report-progress.ts';

type Kernel = Pick<Context, 'kernel'>['kernel'];

export type Period = { readonly from: string; readonly to: string };

/** The most by which a receipt may be older than its predecessor in the log, because each kernel has its own clock. */
const clockSkewMs = 3_600_000;
/** Receipts that are verified before the event loop runs other work. They take about ten milliseconds. */
const receiptsPerTurn = 20;

/** Finds the positions in the log of a workspace that can contain receipts of the period: from `next`, before `end`. */
export async function findPlaces(
  kernel: Kernel,
  workspaceId: WorkspaceId,
  { from }: Period,
): Promise<{ next: number; end: number }> {
  const params = { tenant: TenantId.parse(workspaceId) };
  const newest = await kernel.listLedgerEntries({ params, query: { limit: 1 } });
  const end = (newest.body.data[0]?.receipt.log_index ?? -1) + 1;
  const bound = Date.parse(from) - clockSkewMs;
  let [low, high] = [0, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { body } = await kernel.listLedgerEntries({ params, query: { from: middle, limit: 1 } });
    const receipt = body.data[0]?.receipt;
    if (receipt === undefined || Date.parse(receipt.payload.issued_at) >= bound) high = middle;
    else low = receipt.log_index + 1;
  }
  return { next: low, end };
}

/** A workspace whose positions in the log were found. */
type BegunWorkspace = WorkspaceTally & { place: { next: number; end: number } };

type Counting = { tally: EvidenceTally; trust: TrustedKeys; period: Period };

/**
 * Verifies and counts one page of receipts of a workspace. Returns the number of receipts and the new tally of the
 * workspace. `next` equals `end` after the last page. Throws when the kernel does not answer, or returns receipts out
 * of order.
 */
export async function countPage(
  kernel: Kernel,
  workspace: BegunWorkspace,
  counting: Counting,
): Promise<{ read: number; workspace: BegunWorkspace }> {
  const { next, end } = workspace.place;
  const params = { tenant: TenantId.parse(workspace.workspaceId) };
  const { body } = await kernel.listLedgerEntries({ params, query: { from: next, limit: ledgerEntriesMax } });
  const after = { ...workspace, place: { next: end, end } };
  const latest = Date.parse(counting.period.to) + clockSkewMs;
  let [read, place] = [0, next];
  for (const entry of body.data) {
    const { log_index, payload } = entry.receipt;
    if (log_index < place) throw new Error(`The kernel returned place ${log_index} of the log after ${place - 1}`);
    if (log_index >= end || Date.parse(payload.issued_at) >= latest) return { read, workspace: after };
    place = log_index + 1;
    read += 1;
    countEntry(after, entry, counting);
    if (read % receiptsPerTurn === 0) await nextTurn();
  }
  if (body.data.length === ledgerEntriesMax) after.place.next = place;
  return { read, workspace: after };
}

function countEntry(workspace: WorkspaceTally, entry: LedgerEntry, { tally, trust, period }: Counting): void {
  // Instants have a fixed length, so they can be compared as text.
  const { issued_at } = entry.receipt.payload;
  if (issued_at < period.from || issued_at >= period.to) return;
  const verified = verifiedOrNull(entry, trust);
  if (verified === null || String(verified.payload.tenant_id) !== String(workspace.workspaceId)) {
    workspace.unverifiable += 1;
    return;
  }
  workspace.receipts += 1;
  workspace.digest = Digest.parse(digestOf(nodeProvider, `${workspace.digest ?? ''}\n${verified.receipt_hash}`));
  tally.addReceipt(workspace.workspaceId, verified);
}

function verifiedOrNull(entry: LedgerEntry, trust: TrustedKeys): ReturnType<typeof verifyLedgerEntry> | null {
  try {
    return verifyLedgerEntry(entry, trust, nodeProvider);
  } catch (error) {
    if (error instanceof VerificationError) return null;
    throw error;
  }
}
