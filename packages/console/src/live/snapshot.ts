import type { UseQueryResult } from '@tanstack/react-query';
import type { Snapshot } from '@countersign/contracts/control-plane';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';

/** That the kernel is away, nothing tells. While nothing changes the answer is empty. */
const askAgainMs = 5_000;

/** The current state of the workspace. */
export function useSnapshot(): UseQueryResult<Snapshot> {
  return useWorkspaceQuery(['snapshot'], (client, signal) => client.getSnapshot({ signal }), { everyMs: askAgainMs });
}
