import type { Agent } from '@countersign/contracts/governance-kernel';
import { Spark, summed } from '../charts/spark.tsx';
import { useStats } from '../charts/use-stats.ts';
import { Moment } from '../parts/moment.tsx';
import { RowLink } from '../parts/row-link.tsx';
import { Shown } from '../parts/shown.tsx';
import { useNameOf } from '../parts/who.tsx';
import { AgentSquare, AgentState } from './agent-state.tsx';
import { callsOf, type AgentList } from './use-agents.ts';

const whole = new Intl.NumberFormat('en-GB');

/** One row for each agent, the busiest of the last seven days first. */
export function AgentTable({ list: { data, has_more: hasMore, complete_to: completeTo } }: { list: AgentList }) {
  const stats = useStats('24h', { by: 'agent' }).data;
  const countsOf = (name: string) => stats?.series.find(({ key }) => key === name)?.counts;
  return (
    <>
      <div className="table-box" tabIndex={0} role="region" aria-label="Agents">
        <table className="cards">
          <thead>
            <tr>
              <th>Agent</th>
              <th>State</th>
              <th className="number">Calls in 24 h</th>
              <th className="wide">
                <span className="hidden">Calls over the day</span>
              </th>
              <th className="number">Denied</th>
              <th className="number">Waiting</th>
              <th className="number">Keys</th>
              <th>Last call</th>
            </tr>
          </thead>
          <tbody>
            {data.map((agent) => (
              <Row key={agent.principal_id} agent={agent} counts={countsOf(agent.principal_id)} />
            ))}
          </tbody>
        </table>
      </div>
      {completeTo !== null && (
        <p className="stale">
          Counted up to <Moment at={completeTo} />. Newer calls follow.
        </p>
      )}
      {hasMore && <p className="quiet">More agents exist than are shown. These have the most calls.</p>}
    </>
  );
}

function Row({ agent, counts }: { agent: Agent; counts: readonly number[] | undefined }) {
  const { principal_id: name, display_name, day, last_call_at: lastCallAt } = agent;
  const callerName = useNameOf(name);
  const title = display_name ?? callerName;
  return (
    <tr data-id={name}>
      <td data-name="Agent">
        <span className="agent-name">
          <AgentSquare name={title} />
          <span className="two-lines">
            <RowLink to={`/agents/${encodeURIComponent(name)}`}>
              <Shown text={title} />
            </RowLink>
            {title !== name && (
              <span>
                <Shown text={name} />
              </span>
            )}
          </span>
        </span>
      </td>
      <td data-name="State">
        <AgentState state={agent.state} />
      </td>
      <td className="number" data-name="Calls in 24 h">
        {whole.format(callsOf(day))}
      </td>
      <td className="wide tight">{counts && <Spark counts={summed(counts)} tone="brand" />}</td>
      <td className="number" data-name="Denied">
        {whole.format(day.denied)}
      </td>
      <td className="number" data-name="Waiting">
        {whole.format(agent.pending_approvals)}
      </td>
      <td className="number" data-name="Keys">
        {agent.live_keys}
      </td>
      <td className="tight" data-name="Last call">
        {lastCallAt === null ? 'none' : <Moment at={lastCallAt} />}
      </td>
    </tr>
  );
}
