import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { WorkspaceId } from '@countersign/contracts';
import { invitesToMeQuery, meQuery } from '../api/queries.ts';

/** Opens a workspace that the person has just joined. */
export function useJoined(): (workspaceId: WorkspaceId) => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async (workspace) => {
    await queries.fetchQuery({ ...meQuery, staleTime: 0 });
    void queries.invalidateQueries({ queryKey: invitesToMeQuery.queryKey });
    await navigate({ to: '/overview', search: { workspace } });
  };
}
