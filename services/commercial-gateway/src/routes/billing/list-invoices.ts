import { listInvoices } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { invoiceSummary } from '../../invoicing/invoice-view.ts';
import * as store from '../../store/invoices.ts';

export const listInvoicesRoute = ({ database }: Pick<Context, 'database'>) =>
  handlePerson(listInvoices)(async ({ params, query, caller }) => {
    const { id } = await orgOfAdmin({ database }, caller, params.tenant_id);
    const { rows, nextCursor } = await store.listInvoices(database.reader, id, query);
    return { data: rows.map(invoiceSummary), next_cursor: nextCursor };
  });
