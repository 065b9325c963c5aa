import { useQuery } from '@tanstack/react-query';
import { pageLimit } from '@countersign/contracts';
import type { RunSummary } from '@countersign/contracts/gateway';
import { useWorkspace } from '../workspace/open-workspace.ts';

const noRuns: ReadonlyMap<string, RunSummary> = new Map();

/** The latest run of each task, as far as it is among the newest runs of the workspace. */
export function useLatestRuns(everyMs: number): ReadonlyMap<string, RunSummary> {
  const { id, client } = useWorkspace();
  const { data } = useQuery({
    queryKey: [id, 'latest-runs'],
    queryFn: async ({ signal }) => {
      const { body } = await client.listWorkspaceRuns({ query: { limit: pageLimit.max }, signal });
      // The newest run of a task comes first, so it is put last.
      return new Map(body.data.toReversed().map((run) => [run.taskId as string, run]));
    },
    refetchInterval: everyMs,
  });
  return data ?? noRuns;
}
