import type { UseQueryResult } from '@tanstack/react-query';
import { ApprovalId } from '@countersign/contracts';
import type { InboxApproval } from '@countersign/contracts/control-plane';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';

type Chosen = { listed: InboxApproval | undefined; read: UseQueryResult<InboxApproval | null> };

/** The chosen call. A call outside the shown list, such as a decided one, is read by its id. */
export function useChosenCall(approvals: readonly InboxApproval[], chosenId: string | null): Chosen {
  const { id } = useWorkspace();
  const listed = approvals.find(({ approval_id }) => approval_id === chosenId);
  // The id is from the address, so it can be any text.
  const { data: approvalId } = ApprovalId.safeParse(chosenId);
  const read = useWorkspaceQuery(
    ['approvals', 'one', chosenId],
    async (client, signal) => {
      if (approvalId === undefined) return { body: null };
      const { body } = await client.listInboxApprovals({ params: { id }, query: { approval_id: approvalId }, signal });
      return { body: body.data[0] ?? null };
    },
    { isNeeded: chosenId !== null && listed === undefined },
  );
  return { listed, read };
}
