import { hashKey, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { pageLimit } from '@countersign/contracts';
import type { WorkspaceClient } from '../api/clients.ts';
import { listedOf, type Listed, type PageOf } from './listed.ts';
import { useUnlessTold } from './live-context.ts';
import { useWorkspace } from './open-workspace.ts';

type At = { limit: number; cursor?: string; signal: AbortSignal };
type Ask<Item> = (client: WorkspaceClient, at: At) => Promise<{ body: PageOf<Item> }>;

/** The shown part of a list: a number of items behind the last of these cursors. Those before it lead back. */
type View = { limit: number; cursors: readonly string[] };
const firstView: View = { limit: pageLimit.default, cursors: [] };
const growth = 2;

export type WorkspaceList<Item> = {
  query: UseQueryResult<Listed<Item>>;
  /** How many are shown, and behind which cursor: what a command says to print the same. */
  count: number;
  cursor: string | undefined;
  /** Null: there is nothing behind what is shown. `isGrowth`: it is shown below, and not instead. */
  onwards: { isGrowth: boolean; act: () => void } | null;
  /** Null: what is shown is the beginning. */
  back: (() => void) | null;
};

/**
 * A list of this workspace whose items change. It grows up to one page of the service, and goes on page by page: one request reads again
 * all that is shown, however long the list is. That is asked every `everyMs` milliseconds, or when its page is told that it changed.
 */
export function useWorkspaceList<Item>(
  key: readonly unknown[],
  ask: Ask<Item>,
  { everyMs = false }: { everyMs?: number | false } = {},
): WorkspaceList<Item> {
  const { id, client } = useWorkspace();
  const unlessTold = useUnlessTold();
  const list = hashKey([id, ...key]);
  const [view, setView] = useView(list);
  const { limit, cursors } = view;
  const cursor = cursors.at(-1);
  const query = useQuery({
    queryKey: [id, ...key, view],
    queryFn: async ({ signal }) =>
      listedOf((await ask(client, { limit, signal, ...(cursor === undefined ? {} : { cursor }) })).body),
    // The shown items stay until more of the same list has come; for another list they would be wrong.
    placeholderData: (before: Listed<Item> | undefined, last) =>
      last !== undefined && hashKey(last.queryKey.slice(0, -1)) === list ? before : undefined,
    refetchInterval: everyMs || unlessTold,
  });
  const { data } = query;
  const next = data?.next ?? null;
  const isGrowth = limit < pageLimit.max;
  const grow = () => setView({ limit: Math.min(limit * growth, pageLimit.max), cursors });
  const goOn = (behind: string) => setView({ limit, cursors: [...cursors, behind] });
  return {
    query,
    count: data?.items.length ?? 0,
    cursor,
    onwards: next === null ? null : { isGrowth, act: isGrowth ? grow : () => goOn(next) },
    back: cursors.length === 0 ? null : () => setView({ limit, cursors: cursors.slice(0, -1) }),
  };
}

/** The view of one list; another list begins at its start. */
function useView(list: string): [View, (view: View) => void] {
  const [kept, keep] = useState({ list, view: firstView });
  return [kept.list === list ? kept.view : firstView, (view) => keep({ list, view })];
}
