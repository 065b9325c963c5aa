import type { Approval } from '@countersign/contracts/governance-kernel';
import { Loaded } from '../parts/loaded.tsx';
import { RadiusFacts } from '../radius/radius-facts.tsx';
import { useAgentRadius } from '../radius/use-agent-radius.ts';

/** The recent reach of the agent that made the request. */
export function AgentReach({ approval: { approval_id, requested_by: agent } }: { approval: Approval }) {
  const radius = useAgentRadius(agent);
  return (
    <section aria-label={`What this agent used in 7 days, ${approval_id}`}>
      <h3>What this agent used in 7 days</h3>
      <Loaded query={radius}>{(found) => <RadiusFacts radius={found} />}</Loaded>
    </section>
  );
}
