import { Link } from '@tanstack/react-router';
import type { InvoiceSummary } from '@countersign/contracts/commercial-gateway';
import { minorLess, moneyOf } from '../commercial/amounts.ts';
import { Period } from '../commercial/period.tsx';

export const owedOf = ({ total_minor, credited_minor, paid_minor }: InvoiceSummary) =>
  minorLess(total_minor, credited_minor, paid_minor);

/** Unpaid invoices, the oldest first. */
export function OpenInvoices({ invoices }: { invoices: readonly InvoiceSummary[] }) {
  return (
    <section className="panel-card" aria-label="Open invoices">
      <div className="section-head">
        <h2>Open invoices</h2>
        <Link to="/billing/$id" params={{ id: 'invoices' }}>
          All invoices
        </Link>
      </div>
      {invoices.length === 0 ? (
        <p className="quiet">Nothing to pay.</p>
      ) : (
        <ul>
          {invoices.map((invoice) => (
            <li key={invoice.invoice_id} className="meter-head">
              <Link to="/billing/$id" params={{ id: invoice.invoice_id }}>
                <Period {...invoice.period} />
              </Link>
              <span>{moneyOf(owedOf(invoice), invoice.currency)}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="quiet">Every line of an invoice leads to the receipts that it counts.</p>
    </section>
  );
}
