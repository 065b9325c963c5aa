import { useInfiniteQuery, type UseInfiniteQueryResult } from '@tanstack/react-query';
import type { WorkspaceClient } from '../api/clients.ts';
import { useUnlessTold } from './live-context.ts';
import { useWorkspace } from './open-workspace.ts';

type PageOf<Item> = { data: Item[]; nextCursor: string | null } | { data: Item[]; next_cursor: string | null };
type Ask<Item> = (
  client: WorkspaceClient,
  at: { cursor?: string; signal: AbortSignal },
) => Promise<{ body: PageOf<Item> }>;

/**
 * A list of this workspace, page after page as somebody asks for more. It is asked again every `everyMs` milliseconds,
 * or when its page is told that it changed.
 */
export function useWorkspaceList<Item>(
  key: readonly unknown[],
  ask: Ask<Item>,
  { everyMs = false }: { everyMs?: number | false } = {},
): UseInfiniteQueryResult<Item[]> {
  const { id, client } = useWorkspace();
  const unlessTold = useUnlessTold();
  return useInfiniteQuery({
    queryKey: [id, ...key],
    queryFn: async ({ pageParam, signal }) =>
      (await ask(client, pageParam === null ? { signal } : { cursor: pageParam, signal })).body,
    initialPageParam: null as string | null,
    getNextPageParam: (last) => ('nextCursor' in last ? last.nextCursor : last.next_cursor),
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    refetchInterval: everyMs || unlessTold,
  });
}
