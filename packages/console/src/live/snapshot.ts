import type { UseQueryResult } from '@tanstack/react-query';
import type { Snapshot } from '@countersign/contracts/control-plane';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';

/** No hint reports that the kernel is away, so the snapshot is polled. If nothing has changed, the answer is empty. */
const askAgainMs = 5_000;

export function useSnapshot(): UseQueryResult<Snapshot> {
  return useWorkspaceQuery(['snapshot'], (client, signal) => client.getSnapshot({ signal }), { everyMs: askAgainMs });
}
