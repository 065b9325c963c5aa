import { useState } from 'react';
import { DecisionsChart } from '../charts/decisions-chart.tsx';
import { PeriodChoice } from '../charts/period-choice.tsx';
import type { PeriodName } from '../charts/periods.ts';
import { useStats } from '../charts/use-stats.ts';
import { Loaded } from '../parts/loaded.tsx';
import type { ActivitySearch } from './activity-search.ts';

/**
 * Decisions over time, with the filters of the list below. Other kinds of receipts are not calls, so they have no
 * chart.
 */
export function CallsOverTime({ search }: { search: ActivitySearch }) {
  const { kind } = search;
  return kind === undefined || kind === 'decision' ? <Chart search={search} /> : null;
}

function Chart({ search: { verdict, reason, tool, agent } }: { search: ActivitySearch }) {
  const [period, choose] = useState<PeriodName>('24h');
  const stats = useStats(period, { by: 'verdict', verdict, reason_code: reason, tool, agent });
  return (
    <section className="chart-card" aria-label="Calls over time">
      <div className="section-head">
        <h2>Calls over time</h2>
        <PeriodChoice value={period} onChange={choose} />
      </div>
      <Loaded query={stats}>{(data) => <DecisionsChart stats={data} period={period} low />}</Loaded>
    </section>
  );
}
