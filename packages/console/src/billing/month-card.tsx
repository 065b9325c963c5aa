import type { Entitlements, LimitName, Meter, PlanVersion } from '@countersign/contracts/commercial-gateway';
import { moneyOf, priceOf, quantityOf } from '../commercial/amounts.ts';
import { UsageBar, UsageCount } from '../commercial/usage-bar.tsx';
import { limitWords, meterWords } from '../commercial/words.ts';
import { Period } from '../commercial/period.tsx';
import { planOf, usageAlone, type Billing } from './use-billing.ts';

type RatedMeter = Billing['usage']['meters'][number];

/** The use of the period in progress: meters with what the plan includes, and limits with what remains. */
export function MonthCard({ billing }: { billing: Billing }) {
  const { usage, entitlements, account } = billing;
  const plan = account.subscription && planOf(billing, account.subscription.plan_id, account.subscription.plan_version);
  const limits = Object.entries(entitlements.limits) as [LimitName, Entitlements['limits'][LimitName]][]; // keys of the contract
  return (
    <section className="panel-card" aria-label="This period">
      <div className="section-head">
        <h2>This period</h2>
        <span className="quiet">
          <Period {...usage.period} />
        </span>
      </div>
      {usage.meters.length === 0 && (
        <p className="quiet">Nothing was counted in this period yet. The first decision of an agent appears here.</p>
      )}
      <ul>
        {usage.meters.map((meter) => (
          <MeterLine key={meter.meter} rated={meter} plan={plan ?? undefined} currency={usage.currency} />
        ))}
      </ul>
      {!usageAlone(billing) && limits.length > 0 && (
        <>
          <h3>Limits</h3>
          <ul>
            {limits.map(([name, limit]) => (
              <LimitLine key={name} name={name} limit={limit} />
            ))}
          </ul>
        </>
      )}
      {usage.currency !== null && (
        <p className="meter-head">
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
          ? `${quantityOf(included)} used within the plan.${price}`
          : `Beyond the included amount so far: ${moneyOf(amount_minor, currency)}.`
      }
    />
  );
}

const sourceOf = (meter: Meter) =>
  meter === 'decisions' || meter === 'tool_calls'
    ? 'Counted from receipts. It costs nothing.'
    : 'Counted from events. It costs nothing.';

type LimitProps = { name: LimitName; limit: Entitlements['limits'][LimitName] };

function LimitLine({ name, limit: { limit, used, remaining, resets_at } }: LimitProps) {
  const title = limitWords[name];
  if (limit === null) return <UsageCount name={title} value="No limit" says="The plan does not limit it." />;
  if (used === null || remaining === null)
    return <UsageCount name={title} value={quantityOf(limit)} says="Enforced where it happens; not counted here." />;
  const resets = resets_at === null ? '' : ` Resets on ${dayOf(resets_at)}.`;
  return (
    <UsageBar
      name={title}
      used={String(used)}
      limit={limit}
      of={`of ${quantityOf(limit)}`}
      says={remaining === 0 ? `Used up.${resets}` : `${quantityOf(remaining)} left.${resets}`}
    />
  );
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });
const dayOf = (at: string) => dayFormat.format(new Date(at));
