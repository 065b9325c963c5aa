import type { Meter, PlanVersion } from '@countersign/contracts/commercial-gateway';
import { moneyOf, priceOf, quantityOf } from '../commercial/amounts.ts';
import { UsageBar, UsageCount } from '../commercial/usage-bar.tsx';
import { meterWords } from '../commercial/words.ts';
import { Period } from '../commercial/period.tsx';
import { planOf, type Billing } from './use-billing.ts';

type RatedMeter = Billing['usage']['meters'][number];

/** A meter of the plan without usage in this period. */
const nothing = { quantity: '0', included: '0', tiers: [], amount_minor: '0' };

/** The usage of the current period by meter, with what the plan includes and what it costs so far. */
export function MonthCard({ billing }: { billing: Billing }) {
  const { usage, account } = billing;
  const plan = account.subscription && planOf(billing, account.subscription.plan_id, account.subscription.plan_version);
  const unused = plan?.meters.filter(({ meter }) => usage.meters.every((rated) => rated.meter !== meter)) ?? [];
  const meters = [...usage.meters, ...unused.map(({ meter }) => ({ meter, ...nothing }))];
  return (
    <section className="panel-card" aria-label="This period">
      <div className="section-head">
        <h2>This period</h2>
        <span className="quiet">
          <Period {...usage.period} />
        </span>
      </div>
      {meters.length === 0 && (
        <p className="quiet">Nothing was counted in this period yet. The first decision of an agent appears here.</p>
      )}
      <ul>
        {meters.map((meter) => (
          <MeterLine key={meter.meter} rated={meter} plan={plan ?? undefined} currency={usage.currency} />
        ))}
      </ul>
      {usage.currency !== null && (
        <p className="meter-head meter-sum">
          <span>Usage so far, without base price and tax</span>
          <strong className="price">{moneyOf(usage.usage_minor, usage.currency)}</strong>
        </p>
      )}
    </section>
  );
}

type MeterProps = { rated: RatedMeter; plan: PlanVersion | undefined; currency: string | null };

function MeterLine({ rated: { meter, quantity, included, amount_minor }, plan, currency }: MeterProps) {
  const name = meterWords[meter];
  const terms = plan?.meters.find((one) => one.meter === meter);
  if (terms === undefined || currency === null)
    return <UsageCount name={name} value={quantityOf(quantity)} says={sourceOf(meter)} />;
  const [first] = terms.tiers;
  const price = first === undefined ? '' : ` After that: ${priceOf(first.unit_amount_decimal, currency)}.`;
  return (
    <UsageBar
      name={name}
      used={quantity}
      limit={terms.included}
      of={`of ${quantityOf(terms.included)} included`}
      says={
        amount_minor === '0'
          ? `${quantityOf(leftOf(terms.included, included))} left in the plan.${price}`
          : `Beyond the included amount so far: ${moneyOf(amount_minor, currency)}.`
      }
    />
  );
}

const sourceOf = (meter: Meter) =>
  meter === 'decisions' || meter === 'tool_calls'
    ? 'Counted from receipts. It costs nothing.'
    : 'Counted from events. It costs nothing.';

/** Units of the included amount that are left. A partly used unit counts as used. */
function leftOf(included: number, used: string): number {
  return Math.max(0, included - Math.ceil(Number(used)));
}
