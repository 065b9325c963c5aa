import { Link } from '@tanstack/react-router';
import type { PrincipalId, Verdict } from '@countersign/contracts';
import type { DecisionStats } from '@countersign/contracts/governance-kernel';
import { periods, type PeriodName } from '../charts/periods.ts';
import { useStats } from '../charts/use-stats.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Shown } from '../parts/shown.tsx';

type Props = { principal: PrincipalId; period: PeriodName };

const barsMax = 6;
const whole = new Intl.NumberFormat('en-GB');

/** The tools that an agent called, with the share of calls that was denied or needed approval. */
export function AgentTools({ principal, period }: Props) {
  const all = useStats(period, { agent: principal, by: 'tool' });
  const ofVerdict = (verdict: Verdict) => ({ agent: principal, by: 'tool', verdict }) as const;
  const denied = useStats(period, ofVerdict('DENY')).data;
  const input = useStats(period, ofVerdict('ESCALATE')).data;
  return (
    <section className="chart-card" aria-label="Tools it used">
      <h2>Tools it used</h2>
      <Loaded query={all}>
        {({ series, others }) =>
          series.length === 0 ? (
            <p className="quiet">No calls {periods[period].inSentence}.</p>
          ) : (
            <>
              <ul className="bars">
                {series.slice(0, barsMax).map(({ key, total }) => (
                  <Bar
                    key={key ?? ''}
                    name={key}
                    agent={principal}
                    counts={{ total, denied: totalOf(denied, key), escalated: totalOf(input, key) }}
                    max={series[0]?.total ?? 1}
                  />
                ))}
              </ul>
              {(series.length > barsMax || others !== null) && <p className="quiet after-table">And others.</p>}
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function totalOf(stats: DecisionStats | undefined, key: string | null): number {
  return stats?.series.find((series) => series.key === key)?.total ?? 0;
}

type BarProps = {
  name: string | null;
  agent: PrincipalId;
  counts: { total: number; denied: number; escalated: number };
  max: number;
};

function Bar({ name, agent, counts: { total, denied, escalated }, max }: BarProps) {
  const allowed = Math.max(0, total - denied - escalated);
  const width = (count: number) => (count / Math.max(max, 1)) * 100;
  const search = name === null ? { agent } : { agent, tool: name };
  return (
    <li>
      <span className="clip">
        <Link to="/activity" search={search}>
          <Shown text={name ?? 'Model calls'} />
        </Link>
      </span>
      <span className="number">
        {whole.format(total)}
        {denied > 0 && <span className="hidden">, {whole.format(denied)} denied</span>}
        {escalated > 0 && <span className="hidden">, {whole.format(escalated)} needed approval</span>}
      </span>
      <svg className="bar-track" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect className="fill-allow" width={width(allowed)} height="1" />
        <rect className="fill-ask" x={width(allowed)} width={width(escalated)} height="1" />
        <rect className="fill-deny" x={width(allowed + escalated)} width={width(denied)} height="1" />
      </svg>
    </li>
  );
}
