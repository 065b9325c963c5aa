import { instantOrNull, AppError } from '@countersign/contracts';
import { getSeenAgent } from '@countersign/contracts/governance-kernel';
import { agentView } from '../../doors/status/agent-view.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { countApprovals, countedTo, findAgentRows } from '../../store/agent-store.ts';

export const getSeenAgentRoute = ({ reader, clock }: Pick<Context, 'reader' | 'clock'>) =>
  handleTenant(getSeenAgent)(async ({ params: { principal }, caller: { tenant } }) => {
    const now = clock();
    const completeTo = await countedTo(reader);
    const rows = await findAgentRows(reader, { tenant, principal }, now);
    if (rows === null) throw new AppError('NOT_FOUND', 'This workspace has no agent of this name.');
    return {
      ...agentView(rows, now.getTime()),
      complete_to: instantOrNull(completeTo),
      approvals: await countApprovals(reader, { tenant, principal }, now),
    };
  });
