import { AppError, InvoiceId } from '@countersign/contracts';
import * as contract from '@countersign/contracts/commercial-gateway';
import { billingCaller } from '../../billing-caller.ts';
import type { Context } from '../../context.ts';
import { getOrg } from '../../directory/get-org.ts';
import { handleAdmin } from '../../handle.ts';
import { requestRefund } from '../../payments/request-refund.ts';

export const refundInvoiceRoute = (context: Context) =>
  handleAdmin(contract.refundInvoice)(async ({ params, body, caller, requestId }) => {
    const { id: orgId } = await getOrg(context, params.org_id);
    const invoiceId = InvoiceId.safeParse(params.invoice_id);
    if (!invoiceId.success)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    const { amount_minor, currency, reference } = body;
    const requested = { invoiceId: invoiceId.data, amountMinor: BigInt(amount_minor), currency, reference };
    const refund = await requestRefund(context, requested, billingCaller(orgId, caller, requestId));
    const { provider, status, failureCode: failure_code } = refund;
    return { invoice_id: refund.invoiceId, reference, provider, amount_minor, currency, status, failure_code };
  });
