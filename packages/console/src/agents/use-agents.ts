import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { PrincipalId } from '@countersign/contracts';
import {
  getSeenAgent,
  listSeenAgents,
  type AgentProfile,
  type CallCounts,
} from '@countersign/contracts/governance-kernel';
import type { z } from 'zod';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';

const routes = { getSeenAgent, listSeenAgents };
const everyMs = 5_000;

export type AgentList = z.infer<typeof listSeenAgents.reply>;

/** Agents of the workspace, the busiest first. */
export function useAgents(): UseQueryResult<AgentList> {
  const { id } = useWorkspace();
  const client = useMemo(() => workspaceClient(routes, id), [id]);
  return useQuery({
    queryKey: [id, 'agents'],
    queryFn: async ({ signal }) => (await client.listSeenAgents({ query: {}, signal })).body,
    refetchInterval: everyMs,
  });
}

export function useAgent(principal: PrincipalId): UseQueryResult<AgentProfile> {
  const { id } = useWorkspace();
  const client = useMemo(() => workspaceClient(routes, id), [id]);
  return useQuery({
    queryKey: [id, 'agents', principal],
    queryFn: async ({ signal }) => (await client.getSeenAgent({ params: { principal }, query: {}, signal })).body,
    refetchInterval: everyMs,
  });
}

export const callsOf = ({ allowed, denied, needed_approval: requestCount }: CallCounts): number =>
  allowed + denied + requestCount;
