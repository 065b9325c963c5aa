import { Link } from '@tanstack/react-router';
import type { LedgerTransaction } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { moneyOf } from '../commercial/amounts.ts';
import { commercial } from '../commercial/client.ts';
import { OfOrg } from '../commercial/org-page.tsx';
import { useCommercialList } from '../commercial/use-commercial.ts';
import { ledgerWords } from '../commercial/words.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Shown } from '../parts/shown.tsx';

/** Every booking of the organisation. The amounts of a booking add up to zero. */
export function Ledger({ orgId }: { orgId: OrgId }) {
  const list = useCommercialList(['ledger', orgId], ({ signal, ...at }) =>
    commercial.listLedger({ params: { tenant_id: orgId }, query: at, signal }),
  );
  return (
    <section aria-label="Ledger">
      <p className="quiet before-table">
        Each booking adds up to zero: a debit is positive and a credit is negative. A booking never changes; a
        correction is another booking.
      </p>
      <OfOrg query={list.query}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No bookings yet">
              The first invoice, payment or credit of the organisation is booked here.
            </EmptyState>
          ) : (
            <Bookings transactions={items} />
          )
        }
      </OfOrg>
      <More list={list} />
    </section>
  );
}

function Bookings({ transactions }: { transactions: readonly LedgerTransaction[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Bookings">
      <table className="cards">
        <thead>
          <tr>
            <th>Time</th>
            <th>Booking</th>
            <th>Invoice</th>
            <th>Accounts</th>
          </tr>
        </thead>
        <tbody>
          {transactions.map(({ ledger_transaction_id: id, kind, reference, invoice_id, created_at, entries }) => (
            <tr key={id} data-id={id}>
              <td data-name="Time" className="tight">
                <Moment at={created_at} />
              </td>
              <td data-name="Booking">
                {ledgerWords[kind]}{' '}
                <span className="quiet">
                  <Shown text={reference} />
                </span>
              </td>
              <td data-name="Invoice">
                {invoice_id === null ? (
                  'none'
                ) : (
                  <Link to="/billing/$id" params={{ id: invoice_id }}>
                    Open invoice
                  </Link>
                )}
              </td>
              <td data-name="Accounts">
                <ul>
                  {entries.map(({ account, currency, amount_minor }, nth) => (
                    <li key={`${account} ${nth}`} className="meter-head">
                      <span>{account}</span>
                      <span>{moneyOf(amount_minor, currency)}</span>
                    </li>
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
