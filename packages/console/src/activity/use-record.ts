import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ReceiptId } from '@countersign/contracts';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** The kernel's record of a receipt. `null` when none is kept. A record never changes. */
export function useRecord(id: ReceiptId): UseQueryResult<BoundaryRecord | null> {
  const { id: workspaceId, client } = useWorkspace();
  return useQuery({
    queryKey: ['record of a receipt', workspaceId, id],
    queryFn: async ({ signal }) =>
      (await client.listRecords({ query: { receipt_id: id }, signal })).body.data[0] ?? null,
    staleTime: Infinity,
  });
}
