import { Link } from '@tanstack/react-router';
import type { DecisionStats } from '@countersign/contracts/governance-kernel';
import { Bars } from '../charts/bars.tsx';
import { DecisionsChart } from '../charts/decisions-chart.tsx';
import { periods, type PeriodName } from '../charts/periods.ts';
import { useStats } from '../charts/use-stats.ts';
import { Loaded } from '../parts/loaded.tsx';
import { reasonSays } from '../parts/reason-says.ts';
import { Shown } from '../parts/shown.tsx';
import { Tiles } from './tiles.tsx';

const barsMax = 5;

/** Four numbers, decisions over time, and why calls were denied. */
export function Numbers({ period }: { period: PeriodName }) {
  const stats = useStats(period, {});
  return (
    <>
      <section aria-label="Numbers">
        <Tiles period={period} stats={stats.error === null ? stats.data : undefined} />
      </section>
      <div className="two-columns">
        <section className="chart-card" aria-label="Decisions over time">
          <h2>Decisions</h2>
          <Loaded query={stats}>{(data) => <DecisionsChart stats={data} period={period} />}</Loaded>
        </section>
        <DenialReasons period={period} />
      </div>
    </>
  );
}

function DenialReasons({ period }: { period: PeriodName }) {
  const reasons = useStats(period, { by: 'reason', verdict: 'DENY' });
  return (
    <section className="chart-card" aria-label="Why calls were denied">
      <div className="section-head">
        <h2>Why calls were denied</h2>
        {reasons.data !== undefined && reasons.data.total > 0 && (
          <Link to="/activity" search={{ verdict: 'DENY' }}>
            All {reasons.data.total}
          </Link>
        )}
      </div>
      <Loaded query={reasons}>
        {({ series, total }) =>
          total === 0 ? (
            <p className="quiet">No call was denied {periods[period].inSentence}.</p>
          ) : (
            <Bars
              tone="deny"
              bars={series.slice(0, barsMax).map(({ key, total: count }) => ({
                key: key ?? '',
                label: reasonSays(key ?? ''),
                count,
                search: { verdict: 'DENY', reason: key },
              }))}
            />
          )
        }
      </Loaded>
    </section>
  );
}

/** The agents with the most calls of the period. */
export function BusiestAgents({ period }: { period: PeriodName }) {
  const agents = useStats(period, { by: 'agent' });
  return (
    <section className="chart-card" aria-label="Busiest agents">
      <h2>Busiest agents</h2>
      <Loaded query={agents}>
        {(data) =>
          data.total === 0 ? <p className="quiet">No calls {periods[period].inSentence}.</p> : <Agents {...data} />
        }
      </Loaded>
    </section>
  );
}

function Agents({ series }: DecisionStats) {
  return (
    <Bars
      tone="allow"
      bars={series.slice(0, barsMax).map(({ key, total }) => ({
        key: key ?? '',
        label: <Shown text={key ?? ''} />,
        count: total,
        search: { agent: key },
      }))}
    />
  );
}
