import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { PrincipalId } from '@countersign/contracts';
import { createBlastRadius, OpsTarget, type BlastRadius } from '@countersign/contracts/control-plane';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** The reach covers seven days, so it changes little in a minute. Each read costs the service thousands of receipts. */
const freshForMs = 60_000;

/** The reach of an agent in seven days. */
export function useAgentRadius(agent: PrincipalId): UseQueryResult<BlastRadius> {
  const { id } = useWorkspace();
  return useQuery({
    queryKey: ['radius of an agent', id, agent],
    queryFn: async ({ signal }) => {
      const target = OpsTarget.parse(`agent:${agent}`);
      const steps = [{ kind: 'freeze' as const, target, reason: 'reach of the agent, shown on its page' }];
      return (await workspaceClient({ createBlastRadius }, id).createBlastRadius({ body: { steps }, signal })).body;
    },
    staleTime: freshForMs,
  });
}
