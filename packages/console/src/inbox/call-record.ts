import { useQuery } from '@tanstack/react-query';
import type { Approval, BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { useWorkspace } from '../workspace/open-workspace.ts';

/**
 * The kernel's record of the decision that requires the approval. `null` when the approval was requested in advance. A
 * record never changes.
 */
export function useCallRecord({ receipt_id: receiptId }: Approval) {
  const { id, client } = useWorkspace();
  return useQuery({
    queryKey: ['record of a call', id, receiptId],
    queryFn: async ({ signal }): Promise<BoundaryRecord | null> => {
      if (receiptId === null) return null;
      const { body } = await client.listRecords({ query: { receipt_id: receiptId }, signal });
      return body.data[0] ?? null;
    },
    staleTime: Infinity,
  });
}
