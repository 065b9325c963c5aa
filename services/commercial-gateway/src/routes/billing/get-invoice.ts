import { AppError, InvoiceId } from '@countersign/contracts';
import { getInvoice } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { invoiceLineView, invoiceSummary } from '../../invoicing/invoice-view.ts';
import { listLineEvents } from '../../invoicing/list-line-events.ts';
import { findInvoice, listInvoiceLines } from '../../store/invoices.ts';

export const getInvoiceRoute = ({ database }: Pick<Context, 'database'>) =>
  handlePerson(getInvoice)(async ({ params, query: { meter, ...page }, caller }) => {
    const { id: orgId } = await orgOfAdmin({ database }, caller, params.tenant_id);
    const { reader } = database;
    const id = InvoiceId.safeParse(params.invoice_id);
    const invoice = id.success ? await findInvoice(reader, orgId, id.data) : null;
    if (invoice === null) throw new AppError('NOT_FOUND', 'The organisation has no invoice with this id');
    const lines = await listInvoiceLines(reader, orgId, invoice.id);
    const events = meter === undefined ? null : await listLineEvents(reader, invoice, { meter, ...page });
    return { ...invoiceSummary(invoice), lines: lines.map(invoiceLineView), events };
  });
