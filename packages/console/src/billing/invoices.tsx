import { Link } from '@tanstack/react-router';
import type { InvoiceSummary } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { moneyOf } from '../commercial/amounts.ts';
import { commercial } from '../commercial/client.ts';
import { OfOrg } from '../commercial/org-page.tsx';
import { useCommercialList } from '../commercial/use-commercial.ts';
import { invoiceWords } from '../commercial/words.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Period } from '../commercial/period.tsx';

export function Invoices({ orgId }: { orgId: OrgId }) {
  const list = useCommercialList(['invoices', orgId], ({ signal, ...at }) =>
    commercial.listInvoices({ params: { tenant_id: orgId }, query: at, signal }),
  );
  return (
    <section aria-label="Invoices">
      <OfOrg query={list.query}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No invoices yet">
              The first invoice is made at the end of the period. Each of its lines leads to the receipts that it
              counts.
            </EmptyState>
          ) : (
            <InvoiceTable invoices={items} />
          )
        }
      </OfOrg>
      <More list={list} />
    </section>
  );
}

function InvoiceTable({ invoices }: { invoices: readonly InvoiceSummary[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="List of invoices">
      <table className="cards">
        <thead>
          <tr>
            <th>Period</th>
            <th>Number</th>
            <th>State</th>
            <th className="number">Total</th>
            <th>Issued</th>
          </tr>
        </thead>
        <tbody>
          {invoices.map((invoice) => {
            const { invoice_id: id, number, status, total_minor, currency, finalized_at } = invoice;
            const { says, tone } = invoiceWords[status];
            return (
              <tr key={id} data-id={id}>
                <td data-name="Period">
                  <Link to="/billing/$id" params={{ id }}>
                    <Period {...invoice.period} />
                  </Link>
                </td>
                <td data-name="Number">{number ?? 'not issued'}</td>
                <td data-name="State">
                  <Mark tone={tone}>{says}</Mark>
                </td>
                <td data-name="Total" className="number">
                  {moneyOf(total_minor, currency)}
                </td>
                <td data-name="Issued">{finalized_at === null ? 'not issued' : <Moment at={finalized_at} />}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
