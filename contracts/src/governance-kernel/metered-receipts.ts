import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { TenantId } from '../scalars.ts';
import { ReceiptPayload, StoredReceipt } from './receipt.ts';

/** The members of a receipt that metering reads. */
export const MeteredReceipt = ReceiptPayload.pick({
  ...{ receipt_id: true, kind: true, tenant_id: true, verdict: true, tool: true, shadow: true, issued_at: true },
}).extend(StoredReceipt.pick({ log_index: true }).shape);
export type MeteredReceipt = z.infer<typeof MeteredReceipt>;

export const meteredReceiptsMax = 1_000;

export const listMeteredReceipts = defineRoute({
  operation: 'list-metered-receipts',
  summary:
    'List what metering reads of the receipts of a tenant, from a log position, oldest first. It costs the kernel a ' +
    'fraction of whole entries.',
  method: 'GET',
  path: '/internal/metering/{tenant}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: TenantId }),
  query: z.strictObject({
    /** The first position to list. */
    from: z.coerce.number().int().min(0),
    limit: z.coerce.number().int().min(1).max(meteredReceiptsMax).default(meteredReceiptsMax),
  }),
  reply: z.strictObject({ data: z.array(MeteredReceipt) }),
});
