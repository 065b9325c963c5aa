import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { createContext, use } from 'react';
import type { WorkspaceId } from '@countersign/contracts';
import type { Role, User } from '@countersign/contracts/gateway';
import type { WorkspaceClient } from '../api/clients.ts';
import { useUnlessTold } from './live-context.ts';

type Membership = { id: WorkspaceId; name: string; role: Role };
export type Me = { user: User; workspaces: Membership[] };
export type OpenWorkspace = Membership & { client: WorkspaceClient };

export const WorkspaceContext = createContext<OpenWorkspace | null>(null);

/** The workspace that the page is about. */
export function useWorkspace(): OpenWorkspace {
  const workspace = use(WorkspaceContext);
  if (workspace === null) throw new Error('There is no workspace outside the shell');
  return workspace;
}

/** The workspace that the address names, or the first one when it names none. */
export function useAddressedWorkspace({ workspaces }: Me): Membership | undefined {
  const { workspace }: { workspace?: string } = useSearch({ strict: false });
  return workspace === undefined ? workspaces[0] : workspaces.find(({ id }) => id === workspace);
}

/** Opens the same page of another workspace, without an open panel. */
export function useSwitch(): (workspaceId: string) => void {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [, page = ''] = pathname.split('/');
  return (workspace) => void navigate({ to: `/${page}`, search: { workspace } });
}

type Ask<Body> = (client: WorkspaceClient, signal: AbortSignal) => Promise<{ body: Body }>;
type Terms<Body> = {
  /**
   * The polling interval in milliseconds. With `false`, data is read again when live hints arrive. While no hints can
   * arrive, it is polled.
   */
  everyMs?: number | false | ((last: Body | undefined) => number | false);
  /** `false` disables the read. */
  isNeeded?: boolean;
};

/** Reads a route of this workspace, and caches the answer under `key`. */
export function useWorkspaceQuery<Body>(
  key: readonly unknown[],
  ask: Ask<Body>,
  { everyMs = false, isNeeded = true }: Terms<Body> = {},
): UseQueryResult<Body> {
  const { id, client } = useWorkspace();
  const unlessTold = useUnlessTold();
  return useQuery({
    queryKey: [id, ...key],
    enabled: isNeeded,
    queryFn: async ({ signal }) => (await ask(client, signal)).body,
    refetchInterval: ({ state }) => (typeof everyMs === 'function' ? everyMs(state.data) : everyMs) || unlessTold,
  });
}
