import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { McpServerDetail } from '@countersign/contracts/governance-kernel';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useRegistry } from './use-registry.ts';

/** An approval takes effect within about a second. */
const whileRequestedMs = 2_000;

/** One server with its tools, as the kernel knows it. */
export function useServer(serverId: string): UseQueryResult<McpServerDetail> {
  const { id } = useWorkspace();
  const registry = useRegistry();
  return useQuery({
    queryKey: [id, 'tools', 'server', serverId],
    queryFn: async ({ signal }) =>
      (await registry.getMcpServer({ params: { server_id: serverId }, query: {}, signal })).body,
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && data.approval_request !== null ? whileRequestedMs : false,
  });
}
