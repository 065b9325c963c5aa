import { IconActivity, IconBan, IconCoins, IconUserQuestion } from '@tabler/icons-react';
import type { DecisionStats } from '@countersign/contracts/governance-kernel';
import { fullestOf } from '../budgets/fullest.ts';
import { countsOf } from '../charts/decisions-chart.tsx';
import { periods, type PeriodName } from '../charts/periods.ts';
import { Spark, summed } from '../charts/spark.tsx';
import { useStats } from '../charts/use-stats.ts';
import { useSnapshot } from '../live/snapshot.ts';
import { reasonSays } from '../parts/reason-says.ts';
import { Tile } from '../parts/tile.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';

const whole = new Intl.NumberFormat('en-GB');
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

type Props = { period: PeriodName; stats: DecisionStats | undefined };

/** Four numbers of the period. An unknown number is a dash, never zero. */
export function Tiles({ period, stats }: Props) {
  return (
    <div className="tiles">
      <CallsTile period={period} stats={stats} />
      <DeniedTile period={period} stats={stats} />
      <ApprovalTile stats={stats} />
      <BudgetTile />
    </div>
  );
}

function CallsTile({ period, stats }: Props) {
  const before = useStats(period, { before: 1 }).data;
  const counts = stats?.buckets.map((_, nth) => sum(stats.series.map((series) => series.counts[nth] ?? 0)));
  return (
    <Tile
      name="Calls decided"
      Symbol={IconActivity}
      to="/activity"
      value={stats && whole.format(stats.total)}
      meaning={stats && before && changeOf(stats.total, before.total, periods[period].before)}
    >
      {counts && <Spark counts={summed(counts)} tone="brand" />}
    </Tile>
  );
}

function DeniedTile({ period, stats }: Props) {
  const reasons = useStats(period, { by: 'reason', verdict: 'DENY' }).data;
  const counts = stats && countsOf(stats, 'DENY');
  return (
    <Tile
      name="Denied"
      Symbol={IconBan}
      to="/activity"
      search={{ verdict: 'DENY' }}
      value={counts && whole.format(sum(counts))}
      unit={stats && counts && stats.total > 0 ? percent(sum(counts) / stats.total) : undefined}
      meaning={reasons && mainReasonOf(reasons)}
    >
      {counts && <Spark counts={summed(counts)} tone="deny" />}
    </Tile>
  );
}

function mainReasonOf({ series: [main] }: DecisionStats): string {
  return main === undefined ? 'No call was denied' : `Most: ${reasonSays(main.key ?? '')}`;
}

function ApprovalTile({ stats }: Pick<Props, 'stats'>) {
  const waiting = useSnapshot().data?.boundary?.counts.pending_approvals;
  const counts = stats && countsOf(stats, 'ESCALATE');
  return (
    <Tile
      name="Needed approval"
      Symbol={IconUserQuestion}
      to="/inbox"
      value={counts && whole.format(sum(counts))}
      unit={waiting === undefined ? undefined : `${whole.format(waiting)} waiting`}
      meaning="A rule asked for a person"
    >
      {counts && <Spark counts={summed(counts)} tone="ask" />}
    </Tile>
  );
}

function changeOf(now: number, before: number, words: string): string {
  if (before === 0) return `None in ${words}`;
  const change = Math.round((now / before - 1) * 100);
  return `${change >= 0 ? '+' : '−'}${whole.format(Math.abs(change))} % on ${words}`;
}

function BudgetTile() {
  const { data } = useWorkspaceQuery(['budgets', 'fullest'], (client, signal) =>
    client.listBudgets({ query: {}, signal }),
  );
  const fullest = data && fullestOf(data.data);
  return (
    <Tile
      name="Fullest budget"
      Symbol={IconCoins}
      to="/budgets"
      value={fullest && `${Math.floor(fullest.share * 100)} %`}
      meaning={fullest?.words ?? (data === undefined ? undefined : 'No ceiling is set')}
    />
  );
}
