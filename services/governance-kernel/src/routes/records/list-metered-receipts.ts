import { listMeteredReceipts, type MeteredReceipt, type StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { listSealed } from '../../store/receipt-store.ts';

export const listMeteredReceiptsRoute = ({ reader }: Pick<Context, 'reader'>) =>
  handleSystem(listMeteredReceipts)(async ({ params: { tenant }, query: { from, limit } }) => {
    const range = { from, below: Number.MAX_SAFE_INTEGER, limit };
    return { data: (await listSealed(reader, { tenants: [tenant] }, range)).map(meteredOf) };
  });

function meteredOf({ payload, log_index }: StoredReceipt): MeteredReceipt {
  const { receipt_id, kind, tenant_id, verdict, tool, shadow, issued_at } = payload;
  return { receipt_id, kind, tenant_id, verdict, tool, shadow, issued_at, log_index };
}
