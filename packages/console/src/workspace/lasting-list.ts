import { hashKey, useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { pageLimit } from '@countersign/contracts';
import type { WorkspaceClient } from '../api/clients.ts';
import { listedOf, type Listed, type PageOf } from './listed.ts';
import { useUnlessTold } from './live-context.ts';
import { useWorkspace } from './open-workspace.ts';
import { readNewest, withOlder, type Lasting } from './read-newest.ts';

type At = { limit: number; cursor?: string; signal?: AbortSignal };
type Ask<Item> = (client: WorkspaceClient, at: At) => Promise<{ body: PageOf<Item> }>;
/** `rowOf` selects what is kept of an item, because a long list has 100,000 items. */
type Terms<Item, Row> = { rowOf: (item: Item) => Row; everyMs?: number };

export type LastingList<Row> = { query: UseQueryResult<Lasting<Row>>; older: Older };
type Older = {
  has: boolean;
  isAsked: boolean;
  fault: Error | null;
  ask: () => void;
};

/**
 * A list of this workspace, newest first, whose items never change. Only the newest page is read again, to find new
 * items. Older pages are read on request.
 */
export function useLastingList<Item, Row extends { id: string }>(
  key: readonly unknown[],
  ask: Ask<Item>,
  { rowOf, everyMs }: Terms<Item, Row>,
): LastingList<Row> {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  const unlessTold = useUnlessTold();
  const queryKey = [id, ...key];
  const list = hashKey(queryKey);
  const read = async (cursor: string | null, at: At): Promise<Listed<Row>> => {
    const { items, next } = listedOf((await ask(client, cursor === null ? at : { ...at, cursor })).body);
    return { items: items.map(rowOf), next };
  };
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      readNewest(
        (cursor) => read(cursor, { limit: cursor === null ? pageLimit.default : pageLimit.max, signal }),
        () => queries.getQueryData<Lasting<Row>>(queryKey),
      ),
    refetchInterval: everyMs ?? unlessTold,
    // Comparing 100,000 rows one by one would block the page. It is not needed, because an unchanged list stays the
    // same object.
    structuralSharing: false,
  });
  // Scrolling requests pages faster than the list is rendered. Until the next render, only this ref contains the
  // requested page.
  const input = useRef<string | null>(null);
  const older = useMutation({
    onError: () => void (input.current = null),
    // Writes the page to the list that it was requested for, even if another list is shown by then.
    mutationFn: async ({ cursor }: { cursor: string; list: string }) => {
      const page = await read(cursor, { limit: pageLimit.max });
      queries.setQueryData<Lasting<Row>>(queryKey, (existing) => existing && withOlder(existing, cursor, page));
    },
  });
  const next = query.data?.next ?? null;
  const place = next === null ? null : `${list}\n${next}`;
  // Forgets the requested page once it is rendered. This may run late, when the following page is already requested.
  useEffect(() => {
    if (input.current !== place) input.current = null;
  }, [place]);
  return {
    query,
    older: {
      has: next !== null,
      isAsked: older.isPending,
      fault: older.variables?.list === list ? older.error : null,
      ask: () => {
        if (next === null || older.isPending || input.current === place) return;
        input.current = place;
        older.mutate({ cursor: next, list });
      },
    },
  };
}
