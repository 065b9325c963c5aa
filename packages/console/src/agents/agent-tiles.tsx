import { IconActivity, IconBan, IconCoins, IconUserQuestion } from '@tabler/icons-react';
import type { AgentProfile, DecisionStats } from '@countersign/contracts/governance-kernel';
import { fullestOf } from '../budgets/fullest.ts';
import { countsOf } from '../charts/decisions-chart.tsx';
import { Spark, summed } from '../charts/spark.tsx';
import { useStats } from '../charts/use-stats.ts';
import { reasonSays } from '../parts/reason-says.ts';
import { Tile } from '../parts/tile.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { callsOf } from './use-agents.ts';

const whole = new Intl.NumberFormat('en-GB');

export function AgentTiles({ agent }: { agent: AgentProfile }) {
  const { principal_id: name, day, week, approvals } = agent;
  const stats = useStats('24h', { agent: name }).data;
  const reasons = useStats('24h', { agent: name, by: 'reason', verdict: 'DENY' }).data;
  const calls = callsOf(day);
  const ofAgent = { agent: name };
  return (
    <section aria-label="Numbers">
      <div className="tiles">
        <Tile
          name="Calls in 24 hours"
          Symbol={IconActivity}
          to="/activity"
          search={ofAgent}
          value={whole.format(calls)}
          meaning={`${whole.format(callsOf(week))} in 7 days`}
        >
          {stats && <Spark counts={summed(everyCall(stats))} tone="brand" />}
        </Tile>
        <Tile
          name="Denied"
          Symbol={IconBan}
          to="/activity"
          search={{ ...ofAgent, verdict: 'DENY' }}
          value={whole.format(day.denied)}
          unit={calls === 0 ? undefined : `${((day.denied / calls) * 100).toFixed(1)} %`}
          meaning={reasons && mainReasonOf(reasons)}
        >
          {stats && <Spark counts={summed(countsOf(stats, 'DENY'))} tone="deny" />}
        </Tile>
        <Tile
          name="Approvals in 7 days"
          Symbol={IconUserQuestion}
          to="/inbox"
          value={whole.format(approvals.requested)}
          unit={`${whole.format(agent.pending_approvals)} waiting`}
          meaning={`${whole.format(approvals.approved)} approved, ${whole.format(approvals.denied)} denied, ${whole.format(approvals.expired)} expired`}
        />
        <BudgetTile name={name} />
      </div>
    </section>
  );
}

function everyCall({ series, buckets }: DecisionStats): number[] {
  return buckets.map((_, nth) => series.reduce((sum, { counts }) => sum + (counts[nth] ?? 0), 0));
}

function mainReasonOf({ series: [main] }: DecisionStats): string {
  return main === undefined ? 'No call was denied' : `${whole.format(main.total)}: ${reasonSays(main.key ?? '')}`;
}

/** Budgets of this agent only. Budgets of the whole workspace limit the agent as well. */
function BudgetTile({ name }: { name: string }) {
  const { data } = useWorkspaceQuery(['budgets', 'fullest'], (client, signal) =>
    client.listBudgets({ query: {}, signal }),
  );
  const own = data?.data.filter(({ subject }) => subject === `agent:${name}` || subject === `principal:${name}`);
  const fullest = own && fullestOf(own);
  return (
    <Tile
      name="Own budget"
      Symbol={IconCoins}
      to="/budgets"
      value={fullest && `${Math.floor(fullest.share * 100)} %`}
      meaning={fullest?.words ?? (own === undefined ? undefined : 'Shares the budgets of the workspace')}
    />
  );
}
