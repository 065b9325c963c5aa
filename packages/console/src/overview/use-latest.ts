import type { UseQueryResult } from '@tanstack/react-query';
import type { z } from 'zod';
import type { listReceipts } from '@countersign/contracts/governance-kernel';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';

const rowsMax = 8;
const refetchMs = 3_000;
/** The polling interval until the first decision. It is short, because a person waits for that decision. */
const watchMs = 1_000;

type Latest = z.infer<typeof listReceipts.reply>;

export function useLatest(): UseQueryResult<Latest> {
  return useWorkspaceQuery(
    ['receipts', 'latest'],
    (client, signal) => client.listReceipts({ query: { kind: 'decision', limit: rowsMax }, signal }),
    { everyMs: (last) => (last?.data.length === 0 ? watchMs : refetchMs) },
  );
}

/** Whether the workspace has no decision yet. `false` while that is unknown. */
export function useIsNew(): boolean {
  return useLatest().data?.data.length === 0;
}
