import { listSeenAgents } from '@countersign/contracts/governance-kernel';
import { agentView, instant } from '../agents/agent-view.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { countedTo, listAgentRows } from '../store/agent-store.ts';

export const listSeenAgentsRoute = ({ reader, clock }: Pick<Context, 'reader' | 'clock'>) =>
  handleTenant(listSeenAgents)(async ({ caller: { tenant } }) => {
    const now = clock();
    // In this order: what is counted in between is in the numbers, so they are never less complete than stated.
    const completeTo = await countedTo(reader);
    const { agents, hasMore } = await listAgentRows(reader, tenant, now);
    return {
      complete_to: completeTo === null ? null : instant(completeTo),
      data: agents.map((rows) => agentView(rows, now.getTime())),
      has_more: hasMore,
    };
  });
