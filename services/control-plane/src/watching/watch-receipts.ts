import { listLedgerEntries, type LedgerEntry } from '@countersign/contracts/governance-kernel';
import type { TrustedKeys } from '@countersign/verifier';
import type { Context } from '../context.ts';
import { tenantOf } from '../siblings/tenant-of.ts';
import { claimUnchecked, noteChecked, type Watched } from '../store/watched-workspaces.ts';
import { checkReceipt } from '../trust/check-receipt.ts';
import { trustedKeys } from '../trust/trusted-keys.ts';
import { reportSighting, type Seen } from './report-sighting.ts';

type Deps = Pick<Context, 'log' | 'newEvent' | 'kernel' | 'keyRing' | 'now' | 'transaction'>;

const everyMs = 60_000;
/** At most a thousand workspaces per minute. With more workspaces, each is checked less often. */
const workspacesPerPass = 50;
/**
 * The most receipts that are verified per workspace and pass. Others are verified only in reports, runs and exports.
 */
const receiptsMax = 20;

/** Verifies the newest receipts of workspaces in turn, and reports those that fail. */
export async function watchReceipts(context: Deps): Promise<void> {
  const now = context.now();
  const due = { before: new Date(now.getTime() - everyMs), now, limit: workspacesPerPass };
  const watched = await context.transaction((tx) => claimUnchecked(tx, due));
  if (watched.length === 0) return;
  const keys = await trustedKeys(context);
  for (const one of watched)
    await checkNewest(context, one, keys).catch((error: unknown) =>
      context.log.warn('receipts.unchecked', { workspace_id: one.workspaceId, error }),
    );
}

async function checkNewest(
  context: Pick<Context, 'newEvent' | 'kernel' | 'now' | 'transaction'>,
  { workspaceId, place }: Watched,
  keys: TrustedKeys,
): Promise<void> {
  const client = context.kernel.own({ listLedgerEntries });
  const of = { params: { tenant: tenantOf(workspaceId) }, query: { limit: receiptsMax } };
  const { data } = (await client.listLedgerEntries(of)).body;
  const unseen = data.filter(({ receipt }) => receipt.log_index >= place);
  for (const entry of unseen) {
    const { fault } = checkReceipt(entry, keys, { tenant: workspaceId });
    if (fault !== null) await reportSighting(context, workspaceId, seenOf(entry, fault));
  }
  const newest = data[0]?.receipt.log_index;
  if (newest !== undefined) await context.transaction((tx) => noteChecked(tx, { workspaceId, place: newest + 1 }));
}

function seenOf({ receipt }: LedgerEntry, fault: string): Seen {
  const { receipt_id } = receipt.payload;
  return {
    title: 'A receipt does not verify',
    ...{ severity: 'critical', category: 'verification', receipts: [receipt_id] },
    note: `${receipt_id} at index ${receipt.log_index} of the log has the fault ${fault}.`,
    dedupKey: 'receipts:unverifiable',
    sighting: receipt_id,
  };
}
