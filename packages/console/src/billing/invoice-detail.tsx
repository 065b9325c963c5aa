import { Link } from '@tanstack/react-router';
import { z } from 'zod';
import { Meter, type getInvoice, type InvoiceLine } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { moneyOf, priceOf, quantityOf } from '../commercial/amounts.ts';
import { commercial } from '../commercial/client.ts';
import { OfOrg } from '../commercial/org-page.tsx';
import { useCommercial } from '../commercial/use-commercial.ts';
import { invoiceWords, meterWords } from '../commercial/words.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { usePageSearch } from '../workspace/page-search.ts';
import { BilledEvents } from './billed-events.tsx';
import { Checkout } from './checkout.tsx';
import { owedOf } from './open-invoices.tsx';
import { Period } from '../commercial/period.tsx';

type Invoice = z.infer<(typeof getInvoice)['reply']>;
/** `meter` selects the line whose receipts are shown. */
const InvoiceSearch = z.object({ meter: Meter.optional().catch(undefined) });

/** One invoice. Each line of usage leads to the receipts that add up to it. */
export function InvoiceDetail({ orgId, id }: { orgId: OrgId; id: string }) {
  const [{ meter }, change] = usePageSearch(InvoiceSearch);
  const invoice = useCommercial(['invoice', orgId, id], async (signal) => {
    const params = { tenant_id: orgId, invoice_id: id };
    return (await commercial.getInvoice({ params, signal })).body;
  });
  return (
    <>
      <p className="before-table">
        <Link
          to="/billing/$id"
          params={{ id: 'invoices' }}
          search={(before: object) => ({ ...before, meter: undefined })}
        >
          All invoices
        </Link>
      </p>
      <OfOrg query={invoice}>
        {(read) => (
          <>
            <Summary orgId={orgId} invoice={read} />
            <section aria-label="Lines">
              <h2>Lines</h2>
              <Lines invoice={read} onMeter={(chosen) => change({ meter: chosen })} />
            </section>
            {meter !== undefined && (
              <BilledEvents orgId={orgId} invoiceId={read.invoice_id} meter={meter} key={meter} />
            )}
          </>
        )}
      </OfOrg>
    </>
  );
}

function Summary({ orgId, invoice }: { orgId: OrgId; invoice: Invoice }) {
  const { number, status, currency, period, total_minor, tax_minor, credited_minor, closed_at } = invoice;
  const { says, tone } = invoiceWords[status];
  return (
    <section className="panel-card" aria-label="Invoice">
      <div className="section-head">
        <h2>
          {number === null ? 'Draft invoice' : `Invoice ${number}`}, <Period {...period} />
        </h2>
        <Mark tone={tone}>{says}</Mark>
      </div>
      <dl className="facts">
        <dt>Total</dt>
        <dd className="price">{moneyOf(total_minor, currency)}</dd>
        <dt>Included tax</dt>
        <dd>{moneyOf(tax_minor, currency)}</dd>
        <dt>Paid by credit</dt>
        <dd>{moneyOf(credited_minor, currency)}</dd>
        <dt>To pay</dt>
        <dd>{status === 'open' ? moneyOf(owedOf(invoice), currency) : 'nothing now'}</dd>
        {closed_at !== null && (
          <>
            <dt>Closed</dt>
            <dd>
              <Moment at={closed_at} />
            </dd>
          </>
        )}
        <dt>Id</dt>
        <dd>
          <CopyText text={invoice.invoice_id} />
        </dd>
      </dl>
      {status === 'open' && (
        <Checkout orgId={orgId} body={{ purpose: 'invoice', invoice_id: invoice.invoice_id }} act="Pay invoice" />
      )}
    </section>
  );
}

type LinesProps = { invoice: Invoice; onMeter: (meter: Meter) => void };

function Lines({ invoice: { lines, currency }, onMeter }: LinesProps) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Lines of the invoice">
      <table className="cards">
        <thead>
          <tr>
            <th>Line</th>
            <th className="number">Quantity</th>
            <th className="number">Included</th>
            <th>Price</th>
            <th className="number">Amount</th>
            <th>Receipts</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <Line key={line.kind === 'base' ? 'base' : line.meter} line={line} currency={currency} onMeter={onMeter} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type LineProps = { line: InvoiceLine; currency: string; onMeter: (meter: Meter) => void };

function Line({ line, currency, onMeter }: LineProps) {
  if (line.kind === 'base')
    return (
      <tr>
        <td data-name="Line">Base price of the plan</td>
        <td data-name="Quantity" className="number">
          1
        </td>
        <td data-name="Included" className="number">
          –
        </td>
        <td data-name="Price">a month</td>
        <td data-name="Amount" className="number">
          {moneyOf(line.amount_minor, currency)}
        </td>
        <td data-name="Receipts">none</td>
      </tr>
    );
  const name = meterWords[line.meter];
  return (
    <tr>
      <td data-name="Line">{name}</td>
      <td data-name="Quantity" className="number">
        {quantityOf(line.quantity)}
      </td>
      <td data-name="Included" className="number">
        {quantityOf(line.included)}
      </td>
      <td data-name="Price">
        {line.tiers.length === 0
          ? 'within the plan'
          : line.tiers
              .map((tier) => `${quantityOf(tier.quantity)} at ${priceOf(tier.unit_amount_decimal, currency)}`)
              .join(', ')}
      </td>
      <td data-name="Amount" className="number">
        {moneyOf(line.amount_minor, currency)}
      </td>
      <td data-name="Receipts">
        <button type="button" className="link" onClick={() => onMeter(line.meter)}>
          Show <span className="hidden">what {name} counts</span>
        </button>
      </td>
    </tr>
  );
}
