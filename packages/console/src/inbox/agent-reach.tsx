import { useQuery } from '@tanstack/react-query';
import { OpsTarget } from '@countersign/contracts/control-plane';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { Loaded } from '../parts/loaded.tsx';
import { RadiusFacts } from '../radius/radius-facts.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** It is of seven days: a minute makes no difference to whoever votes, and reading thousands of receipts does to the service. */
const freshForMs = 60_000;

/** What the agent that asks has reached lately: how far goes who is let go on. */
export function AgentReach({ approval: { approval_id, requested_by: agent } }: { approval: Approval }) {
  const { id, client } = useWorkspace();
  const target = OpsTarget.parse(`agent:${agent}`);
  const radius = useQuery({
    queryKey: ['radius of an agent', id, agent],
    queryFn: async ({ signal }) => {
      const steps = [{ kind: 'freeze' as const, target, reason: 'what it has reached' }];
      return (await client.createBlastRadius({ body: { steps }, signal })).body;
    },
    staleTime: freshForMs,
  });
  return (
    <section aria-label={`What this agent used in 7 days, ${approval_id}`}>
      <h3>What this agent used in 7 days</h3>
      <Loaded query={radius}>{(found) => <RadiusFacts radius={found} />}</Loaded>
    </section>
  );
}
