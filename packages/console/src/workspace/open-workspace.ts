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

/** The one that the address names; without a name, the first. */
export function useAddressedWorkspace({ workspaces }: Me): Membership | undefined {
  const { workspace }: { workspace?: string } = useSearch({ strict: false });
  return workspace === undefined ? workspaces[0] : workspaces.find(({ id }) => id === workspace);
}

/** Goes to the same page of another workspace; what is open on the page is not there. */
export function useSwitch(): (workspaceId: string) => void {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [, page = ''] = pathname.split('/');
  return (workspace) => void navigate({ to: `/${page}`, search: { workspace } });
}

type Ask<Body> = (client: WorkspaceClient, signal: AbortSignal) => Promise<{ body: Body }>;
/** How often it is asked again, in milliseconds; false: when its page is told that it changed. */
type Terms<Body> = { everyMs?: number | false | ((last: Body | undefined) => number | false) };

/** The answer of a route about this workspace, kept under `key`. */
export function useWorkspaceQuery<Body>(
  key: readonly unknown[],
  ask: Ask<Body>,
  { everyMs = false }: Terms<Body> = {},
): UseQueryResult<Body> {
  const { id, client } = useWorkspace();
  const unlessTold = useUnlessTold();
  return useQuery({
    queryKey: [id, ...key],
    queryFn: async ({ signal }) => (await ask(client, signal)).body,
    refetchInterval: ({ state }) => (typeof everyMs === 'function' ? everyMs(state.data) : everyMs) || unlessTold,
  });
}
