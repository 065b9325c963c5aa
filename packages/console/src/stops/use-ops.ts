import type { UseQueryResult } from '@tanstack/react-query';
import type { OpsOverview } from '@countersign/contracts/control-plane';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';

const askAgainMs = 3_000;

/** The stops of the workspace, as the kernel confirms them. */
export function useOps(): UseQueryResult<OpsOverview> {
  return useWorkspaceQuery(['ops'], (client, signal) => client.getOps({ signal }), { everyMs: askAgainMs });
}
