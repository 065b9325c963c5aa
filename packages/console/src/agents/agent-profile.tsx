import { Button } from '@mantine/core';
import { IconGauge, IconHandStop } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { mayDo, type PrincipalId } from '@countersign/contracts';
import type { GivenCommand, StopKind } from '@countersign/contracts/control-plane';
import type { AgentProfile } from '@countersign/contracts/governance-kernel';
import { DecisionsChart } from '../charts/decisions-chart.tsx';
import { PeriodChoice } from '../charts/period-choice.tsx';
import { periods, type PeriodName } from '../charts/periods.ts';
import { useStats } from '../charts/use-stats.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Moment } from '../parts/moment.tsx';
import { Page } from '../parts/page.tsx';
import { Shown } from '../parts/shown.tsx';
import { useNameOf, Who } from '../parts/who.tsx';
import { GivenStop } from '../stops/given-stop.tsx';
import { StopForm } from '../stops/stop-form.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { AgentAccessKeys } from './agent-access-keys.tsx';
import { AgentCalls } from './agent-calls.tsx';
import { AgentReachCard } from './agent-reach-card.tsx';
import { AgentSquare, AgentState } from './agent-state.tsx';
import { AgentTiles } from './agent-tiles.tsx';
import { AgentTools } from './agent-tools.tsx';
import { useAgent } from './use-agents.ts';

type Props = { principal: PrincipalId };

/** One agent: what it does, what it costs, what it reaches, and how to stop it. */
export function AgentProfilePage({ principal }: Props) {
  const agent = useAgent(principal);
  const [input, setGiven] = useState<GivenCommand | null>(null);
  const existing = agent.data;
  const callerName = useNameOf(principal);
  const name = existing?.display_name ?? callerName;
  return (
    <Page
      title={name}
      above={{ title: 'Agents', to: '/agents' }}
      symbol={<AgentSquare name={name} />}
      state={existing && <AgentState state={existing.state} />}
      about={existing && <About agent={existing} />}
      actions={<StopActions principal={principal} onGiven={setGiven} />}
    >
      {input !== null && <GivenStop command={input} />}
      <Loaded query={agent}>{(profile) => <Profile agent={profile} />}</Loaded>
    </Page>
  );
}

function About({ agent }: { agent: AgentProfile }) {
  const { principal_id: name, display_name: title, enrolled_at: enrolledAt, enrolled_by: by, last_call_at: at } = agent;
  return (
    <>
      {title !== null && title !== name && (
        <>
          <Shown text={name} /> ·{' '}
        </>
      )}
      {enrolledAt === null ? (
        'Not enrolled'
      ) : (
        <>
          Enrolled <Moment at={enrolledAt} />
          {by !== null && (
            <>
              {' '}
              by <Who actor={by} />
            </>
          )}
        </>
      )}{' '}
      · {at === null ? 'no call yet' : 'last call '}
      {at !== null && <Moment at={at} />}
    </>
  );
}

function StopActions({ principal, onGiven }: Props & { onGiven: (command: GivenCommand) => void }) {
  const { id, role } = useWorkspace();
  const queries = useQueryClient();
  const [kind, setKind] = useState<StopKind | null>(null);
  if (!mayDo(role, 'stop.give')) return <p className="quiet">Only partners and owners can stop an agent.</p>;
  const take = (command: GivenCommand) => {
    setKind(null);
    onGiven(command);
    void queries.invalidateQueries({ queryKey: [id] });
  };
  return (
    <>
      <Button variant="default" leftSection={<IconGauge size={16} />} onClick={() => setKind('throttle')}>
        Slow down
      </Button>
      <Button variant="outline" color="red" leftSection={<IconHandStop size={16} />} onClick={() => setKind('freeze')}>
        Stop agent
      </Button>
      <StopForm
        kind={kind}
        target={{ around: 'agent', name: principal }}
        onClose={() => setKind(null)}
        onGiven={take}
      />
    </>
  );
}

function Profile({ agent }: { agent: AgentProfile }) {
  const { principal_id: principal, stop } = agent;
  const [period, choose] = useState<PeriodName>('7d');
  const stats = useStats(period, { agent: principal, bucket: period === '7d' ? '1d' : periods[period].bucket });
  return (
    <>
      {stop !== null && (
        <section className={`note ${stop.kind === 'throttle' ? 'note-wait' : 'note-problem'}`} aria-label="Stop">
          <p>
            {stop.kind === 'throttle'
              ? `Slowed to ${stop.call_limit ?? 0} calls in ${stop.window_seconds ?? 0} s`
              : 'Every call is denied'}{' '}
            since <Moment at={stop.effective_at} />: <Shown text={stop.reason} />
          </p>
        </section>
      )}
      <AgentTiles agent={agent} />
      <div className="two-columns">
        <section className="chart-card" aria-label="Calls by decision">
          <div className="section-head">
            <h2>Calls by decision</h2>
            <PeriodChoice value={period} onChange={choose} />
          </div>
          <Loaded query={stats}>{(data) => <DecisionsChart stats={data} period={period} agent={principal} />}</Loaded>
        </section>
        <AgentTools principal={principal} period={period} />
      </div>
      <div className="two-columns">
        <div>
          <AgentAccessKeys agent={agent} />
          <AgentCalls principal={principal} />
        </div>
        <AgentReachCard principal={principal} />
      </div>
    </>
  );
}
