import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { useWorkspaceList, type WorkspaceList } from '../workspace/workspace-list.ts';

/** The first part of the keys of these queries. No live hint names it (`live/follow-hints.ts`), so the queries poll. */
const area = 'commercial';
const askAgainMs = 15_000;

export type OrgOfWorkspace = {
  /** `null` when no organisation owns the workspace. */
  orgId: OrgId | null;
  /** Names of the members of the workspace, by their id. */
  names: ReadonlyMap<string, string>;
};

/** The organisation that owns the open workspace. */
export function useOrg(): UseQueryResult<OrgOfWorkspace> {
  const { id } = useWorkspace();
  return useWorkspaceQuery<OrgOfWorkspace>(
    [area, 'org'],
    async (client, signal) => {
      const { org_id: orgId, members } = (await client.getConsoleWorkspace({ params: { id }, signal })).body;
      return { body: { orgId, names: new Map(members.map(({ user_id, name }) => [user_id, name])) } };
    },
    { everyMs: askAgainMs },
  );
}

/** Reads from the commercial gateway about an organisation. */
export function useCommercial<Body>(
  key: readonly unknown[],
  ask: (signal: AbortSignal) => Promise<Body>,
  everyMs: number | ((last: Body | undefined) => number | false) = askAgainMs,
): UseQueryResult<Body> {
  return useWorkspaceQuery([area, ...key], async (_, signal) => ({ body: await ask(signal) }), { everyMs });
}

type At = { limit: number; cursor?: string; signal: AbortSignal };

/** Reads a list of the commercial gateway about an organisation. */
export function useCommercialList<Item>(
  key: readonly unknown[],
  ask: (at: At) => Promise<{ body: { data: Item[]; next_cursor: string | null } }>,
): WorkspaceList<Item> {
  return useWorkspaceList([area, ...key], (_, at) => ask(at), { everyMs: askAgainMs });
}

/** After a change, reads all shown data of the commercial gateway again. */
export function useReadAgain(): () => Promise<void> {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: [id, area] });
}
