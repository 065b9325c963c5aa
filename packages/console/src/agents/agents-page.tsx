import { useParams } from '@tanstack/react-router';
import { PrincipalId } from '@countersign/contracts';
import { EmptyState } from '../parts/empty-state.tsx';
import { FirstCall } from '../parts/first-call.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { AgentProfilePage } from './agent-profile.tsx';
import { AgentTable } from './agent-table.tsx';
import { useAgents } from './use-agents.ts';

/** `/agents`: the programs that make calls. `/agents/{principal}`: what one agent does, costs and reaches. */
export function AgentsPage() {
  const { id }: { id?: string } = useParams({ strict: false });
  if (id === undefined) return <AgentsList />;
  const name = PrincipalId.safeParse(id);
  // The key mounts a new page for each agent, so no state of the last one stays.
  return name.success ? <AgentProfilePage key={id} principal={name.data} /> : <NoSuchAgent />;
}

function AgentsList() {
  const agents = useAgents();
  return (
    <Page title="Agents" about="Every program that makes calls here, and what it may do now.">
      <section aria-label="List of agents">
        <Loaded query={agents}>
          {(list) => (list.data.length === 0 ? <FirstCall /> : <AgentTable list={list} />)}
        </Loaded>
      </section>
    </Page>
  );
}

function NoSuchAgent() {
  return (
    <Page title="Unknown agent" above={{ title: 'Agents', to: '/agents' }}>
      <EmptyState title="No agent has this name">Pick one from the list of agents.</EmptyState>
    </Page>
  );
}
