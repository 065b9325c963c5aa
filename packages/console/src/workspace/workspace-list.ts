import { hashKey, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { pageLimit } from '@countersign/contracts';
import type { WorkspaceClient } from '../api/clients.ts';
import { listedOf, type Listed, type PageOf } from './listed.ts';
import { useUnlessTold } from './live-context.ts';
import { useWorkspace } from './open-workspace.ts';

type At = { limit: number; cursor?: string; signal: AbortSignal };
type Ask<Item> = (client: WorkspaceClient, at: At) => Promise<{ body: PageOf<Item> }>;

/** The shown part of a list: up to `limit` items after the last of `cursors`. The earlier cursors lead back. */
type View = { limit: number; cursors: readonly string[] };
const firstView: View = { limit: pageLimit.default, cursors: [] };
const growth = 2;

export type WorkspaceList<Item> = {
  query: UseQueryResult<Listed<Item>>;
  /** The number of shown items. With `cursor`, a command prints the same items. */
  count: number;
  cursor: string | undefined;
  /**
   * `null` when no items follow. `isGrowth`: the following items are added to the shown ones instead of replacing them.
   */
  onwards: { isGrowth: boolean; act: () => void } | null;
  /** `null` when the shown items are the first ones. */
  back: (() => void) | null;
};

/**
 * A list of this workspace whose items change. It grows to one page of the service, and then continues page by page.
 * One request reads all shown items again, every `everyMs` milliseconds or after a live hint.
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
    // The shown items stay until more of the same list has arrived. For another list they would be wrong.
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

/** The view of one list. Another list starts at its first items. */
function useView(list: string): [View, (view: View) => void] {
  const [kept, keep] = useState({ list, view: firstView });
  return [kept.list === list ? kept.view : firstView, (view) => keep({ list, view })];
}
