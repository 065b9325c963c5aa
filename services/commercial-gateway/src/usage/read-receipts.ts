import { TenantId } from '@countersign/contracts';
import { ledgerEntriesMax } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { OwnedWorkspace } from '../store/orgs.ts';
import { nextReceiptPosition, recordReceipts } from './record-receipts.ts';

type Reading = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now'>;

/**
 * Counts the new receipts of a workspace, page by page. Returns their number. Each page is stored in its own
 * transaction, so a crash loses no counted page. Throws when the kernel does not answer.
 */
export async function readReceipts(context: Reading, { workspaceId, orgId }: OwnedWorkspace): Promise<number> {
  const { kernel, database } = context;
  const params = { tenant: TenantId.parse(workspaceId) };
  let count = 0;
  for (;;) {
    const from = await nextReceiptPosition(database.reader, { orgId, workspaceId });
    const { body } = await kernel.listLedgerEntries({ params, query: { from: Number(from), limit: ledgerEntriesMax } });
    const last = body.data.at(-1);
    if (last === undefined) return count;
    const receipts = body.data.map(({ receipt }) => receipt.payload);
    const to = BigInt(last.receipt.log_index + 1);
    if (await recordReceipts(context, { workspaceId, from, to, receipts }, { orgId })) count += receipts.length;
    if (body.data.length < ledgerEntriesMax) return count;
  }
}
