import { moneyOf } from '../commercial/amounts.ts';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import type { Account } from './use-billing.ts';

/** Credits that pay the next invoices, and the balance of the ledger. */
export function Credits({ account: { credits, balances } }: { account: Account }) {
  return (
    <section className="panel-card" aria-label="Credits and balance">
      <div className="section-head">
        <h2>Credits and balance</h2>
      </div>
      {balances.length > 0 && (
        <dl className="facts">
          {balances.map(({ currency, receivable_minor, credits_minor }) => (
            <div key={currency}>
              <dt>To pay</dt>
              <dd>{moneyOf(receivable_minor, currency)}</dd>
              <dt>Credit left</dt>
              <dd>{moneyOf(credits_minor, currency)}</dd>
            </div>
          ))}
        </dl>
      )}
      {credits.length === 0 ? (
        <p className="quiet">No credits. Credits pay invoices. Credits that expire first are used first.</p>
      ) : (
        <ul>
          {credits.map(({ credit_grant_id: id, reason, currency, remaining_minor, amount_minor, expires_at }) => (
            <li key={id} className="meter">
              <p className="meter-head">
                <Shown text={reason} />
                <strong>{moneyOf(remaining_minor, currency)}</strong>
              </p>
              <p className="quiet">
                of {moneyOf(amount_minor, currency)}
                {expires_at !== null && (
                  <>
                    , until <Moment at={expires_at} />
                  </>
                )}
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
