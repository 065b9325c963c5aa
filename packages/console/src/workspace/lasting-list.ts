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
/** `rowOf`: what is kept of an item. A long list has 100,000 of them. */
type Terms<Item, Row> = { rowOf: (item: Item) => Row; everyMs?: number };

export type LastingList<Row> = { query: UseQueryResult<Lasting<Row>>; older: Older };
type Older = {
  has: boolean;
  isAsked: boolean;
  fault: Error | null;
  ask: () => void;
};

/**
 * A list of this workspace, newest first, to which items are added and in which none changes. Only the newest page is
 * read again, to find new items. It grows on request for older ones.
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
    // To compare 100,000 rows one by one holds up the page; the same list is the same object.
    structuralSharing: false,
  });
  // Scrolling asks more often than the page is drawn: until then only this holds the requested page.
  const asked = useRef<string | null>(null);
  const older = useMutation({
    onError: () => void (asked.current = null),
    // The list that was asked for, also when another one is shown by the time the answer is there.
    mutationFn: async ({ cursor }: { cursor: string; list: string }) => {
      const page = await read(cursor, { limit: pageLimit.max });
      queries.setQueryData<Lasting<Row>>(queryKey, (known) => known && withOlder(known, cursor, page));
    },
  });
  const next = query.data?.next ?? null;
  const place = next === null ? null : `${list}\n${next}`;
  // Its result is drawn. This may run late, when the page that was drawn last was asked for already.
  useEffect(() => {
    if (asked.current !== place) asked.current = null;
  }, [place]);
  return {
    query,
    older: {
      has: next !== null,
      isAsked: older.isPending,
      fault: older.variables?.list === list ? older.error : null,
      ask: () => {
        if (next === null || older.isPending || asked.current === place) return;
        asked.current = place;
        older.mutate({ cursor: next, list });
      },
    },
  };
}
