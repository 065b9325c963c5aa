import type { PrincipalId } from '@countersign/contracts';
import { Loaded } from '../parts/loaded.tsx';
import { RadiusFacts } from '../radius/radius-facts.tsx';
import { useAgentRadius } from '../radius/use-agent-radius.ts';

export function AgentReachCard({ principal }: { principal: PrincipalId }) {
  const radius = useAgentRadius(principal);
  return (
    <section className="chart-card" aria-label="What it reached">
      <h2>What it reached in 7 days</h2>
      <Loaded query={radius}>{(found) => <RadiusFacts radius={found} />}</Loaded>
    </section>
  );
}
