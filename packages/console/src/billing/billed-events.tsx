import { Link } from '@tanstack/react-router';
import type { InvoiceId } from '@countersign/contracts';
import type { BilledEvent, Meter } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { quantityOf } from '../commercial/amounts.ts';
import { commercial } from '../commercial/client.ts';
import { OfOrg } from '../commercial/org-page.tsx';
import { useCommercialList } from '../commercial/use-commercial.ts';
import { meterWords } from '../commercial/words.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Shown } from '../parts/shown.tsx';

type Props = { orgId: OrgId; invoiceId: InvoiceId; meter: Meter };

/** The events behind one line of an invoice, each with its receipt. */
export function BilledEvents({ orgId, invoiceId, meter }: Props) {
  const list = useCommercialList(['events', orgId, invoiceId, meter], async ({ signal, ...at }) => {
    const params = { tenant_id: orgId, invoice_id: invoiceId };
    const { events } = (await commercial.getInvoice({ params, query: { ...at, meter }, signal })).body;
    return { body: events ?? { data: [], next_cursor: null } };
  });
  return (
    <section aria-label={`Receipts of ${meterWords[meter]}`}>
      <h2>{meterWords[meter]}: what this line counts</h2>
      <p className="quiet before-table">
        The quantities of these events add up to the quantity of the line. Open a receipt to verify it.
      </p>
      <OfOrg query={list.query}>{({ items }) => <EventTable events={items} />}</OfOrg>
      <More list={list} />
    </section>
  );
}

function EventTable({ events }: { events: readonly BilledEvent[] }) {
  if (events.length === 0) return <p className="quiet">This line counts no events.</p>;
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Counted events">
      <table className="cards">
        <thead>
          <tr>
            <th>Time</th>
            <th className="number">Quantity</th>
            <th>Receipt or event</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={`${event.source} ${event.id}`} data-id={event.id}>
              <td data-name="Time">
                <Moment at={event.occurred_at} />
              </td>
              <td data-name="Quantity" className="number">
                {quantityOf(event.quantity)}
              </td>
              <td data-name="Receipt">
                <Origin event={event} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A receipt opens in the workspace that contains it, which may not be the open workspace. */
function Origin({ event: { receipt_id, workspace_id, source, id } }: { event: BilledEvent }) {
  if (receipt_id === null || workspace_id === null)
    return (
      <>
        <Shown text={source} /> <CopyText text={id} />
      </>
    );
  return (
    <Link to="/activity/$id" params={{ id: receipt_id }} search={{ workspace: workspace_id }}>
      <code>{receipt_id}</code>
    </Link>
  );
}
