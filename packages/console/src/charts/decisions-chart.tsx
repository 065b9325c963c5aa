import { useNavigate } from '@tanstack/react-router';
import type { Verdict } from '@countersign/contracts';
import type { DecisionStats } from '@countersign/contracts/governance-kernel';
import { Columns, type ChartSeries } from './columns.tsx';
import { bucketMs, bucketName, periods, type PeriodName } from './periods.ts';

/** Denied is always on top, so that colour-blind people recognise it by its place. */
const verdicts = [
  { key: 'ALLOW', name: 'Allowed', fill: 'allow' },
  { key: 'ESCALATE', name: 'Needs approval', fill: 'ask' },
  { key: 'DENY', name: 'Denied', fill: 'deny' },
] as const;

export function countsOf({ series, buckets }: DecisionStats, verdict: Verdict): readonly number[] {
  return series.find(({ key }) => key === verdict)?.counts ?? buckets.map(() => 0);
}

const whole = new Intl.NumberFormat('en-GB');
const calls = (count: number): string => (count === 1 ? '1 call' : `${whole.format(count)} calls`);

/** Decisions by verdict over time. Each bucket links to its calls. */
export function DecisionsChart({
  stats,
  period,
  low = false,
  agent,
}: {
  stats: DecisionStats;
  period: PeriodName;
  low?: boolean;
  /** Limits the chart to calls of this agent. */
  agent?: string;
}) {
  const navigate = useNavigate();
  const series: ChartSeries[] = verdicts.map((look) => ({ ...look, counts: countsOf(stats, look.key) }));
  const names = stats.buckets.map((at) => bucketName(at, stats));
  const denied = countsOf(stats, 'DENY');
  const deniedTotal = denied.reduce((sum, count) => sum + count, 0);
  const worst = denied.indexOf(Math.max(...denied));
  const sentence =
    `${calls(stats.total)} ${periods[period].inSentence}, ${whole.format(deniedTotal)} denied` +
    (deniedTotal === 0 ? '' : `, most at ${names[worst]}`);
  const open = (nth: number) => {
    const from = stats.buckets[nth];
    if (from === undefined) return;
    const to = new Date(Date.parse(from) + bucketMs(stats.bucket)).toISOString();
    void navigate({
      to: '/activity',
      search: (before: object) => ({ ...before, ...(agent !== undefined && { agent }), from, to }),
    });
  };
  return (
    <>
      <Columns sentence={sentence} names={names} series={series} onOpen={open} low={low} />
      {stats.complete_to !== null && (
        <p className="stale">
          Counted up to {new Date(stats.complete_to).toLocaleTimeString('en-GB')}. Newer calls follow.
        </p>
      )}
    </>
  );
}
