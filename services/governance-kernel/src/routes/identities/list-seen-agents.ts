import { instantOrNull } from '@countersign/contracts';
import { listSeenAgents } from '@countersign/contracts/governance-kernel';
import { agentView } from '../../doors/status/agent-view.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { countedTo, listAgentRows } from '../../store/agent-store.ts';

export const listSeenAgentsRoute = ({ reader, clock }: Pick<Context, 'reader' | 'clock'>) =>
  handleTenant(listSeenAgents)(async ({ caller: { tenant } }) => {
    const now = clock();
    // Read in this order: entries that are counted after the first read are included, so the numbers are at least as
    // complete as stated.
    const completeTo = await countedTo(reader);
    const { agents, hasMore } = await listAgentRows(reader, tenant, now);
    return {
      complete_to: instantOrNull(completeTo),
      data: agents.map((rows) => agentView(rows, now.getTime())),
      has_more: hasMore,
    };
  });
