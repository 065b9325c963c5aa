import { TenantId } from '@countersign/contracts';
import { meteredReceiptsMax } from '@countersign/contracts/governance-kernel';
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
    const { body } = await kernel.listMeteredReceipts({ params, query: { from: Number(from) } });
    const last = body.data.at(-1);
    if (last === undefined) return count;
    const page = { workspaceId, from, to: BigInt(last.log_index + 1), receipts: body.data };
    if (await recordReceipts(context, page, { orgId })) count += page.receipts.length;
    if (page.receipts.length < meteredReceiptsMax) return count;
  }
}
