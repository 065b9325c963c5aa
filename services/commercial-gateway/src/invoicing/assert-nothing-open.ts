import { AppError } from '@countersign/contracts';
import type { BillingCaller } from '../billing-deps.ts';
import type { Tx } from '../store/database.ts';
import { listOpenInvoices } from '../store/invoices.ts';

/**
 * Throws GATE_NOT_PASSED while an invoice is open. Otherwise a new subscription or trial would permit runs again
 * without payment.
 */
export async function assertNothingOpen(tx: Tx, { orgId }: Pick<BillingCaller, 'orgId'>): Promise<void> {
  if ((await listOpenInvoices(tx, orgId, 1)).length === 0) return;
  throw new AppError('GATE_NOT_PASSED', 'An earlier invoice is open. Pay it first', {
    details: { missing: ['paid_invoices'] },
  });
}
