import type { Entitlements, LimitName } from '@countersign/contracts/commercial-gateway';
import { quantityOf } from '../commercial/amounts.ts';
import { UsageBar } from '../commercial/usage-bar.tsx';
import { limitWords } from '../commercial/words.ts';

type Limit = Entitlements['limits'][LimitName];

/** Limits of the plan. Limits with a count are bars, and other limits show their value. */
export function LimitsCard({ entitlements }: { entitlements: Entitlements }) {
  const limits = Object.entries(entitlements.limits) as [LimitName, Limit][]; // keys of the contract
  const rest = limits.filter(([, { used, limit }]) => used === null || limit === null);
  return (
    <section className="panel-card" aria-label="Limits">
      <div className="section-head">
        <h2>Limits</h2>
      </div>
      <ul>
        {limits.map(([name, limit]) => (
          <CountedLimit key={name} name={name} limit={limit} />
        ))}
      </ul>
      <dl className="facts">
        {rest.map(([name, { limit }]) => (
          <div key={name}>
            <dt>{limitWords[name]}</dt>
            <dd>{limit === null ? 'No limit' : `At most ${quantityOf(limit)}`}</dd>
          </div>
        ))}
      </dl>
      <p className="quiet">
        An action that would exceed a limit is refused. The refusal names the limit, and nothing is deleted.
      </p>
    </section>
  );
}

function CountedLimit({ name, limit: { limit, used, remaining, resets_at } }: { name: LimitName; limit: Limit }) {
  if (limit === null || used === null || remaining === null) return null;
  const resets = resets_at === null ? '' : ` Resets on ${dayOf(resets_at)}.`;
  return (
    <UsageBar
      name={limitWords[name]}
      used={String(used)}
      limit={limit}
      of={`of ${quantityOf(limit)}`}
      says={remaining === 0 ? `Used up.${resets}` : `${quantityOf(remaining)} left.${resets}`}
    />
  );
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });
const dayOf = (at: string) => dayFormat.format(new Date(at));
