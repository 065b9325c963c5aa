import { useMemo } from 'react';
import type { Client } from '@countersign/contracts';
import {
  disableMcpServer,
  getMcpServer,
  listMcpServers,
  registerMcpServer,
  requestMcpServerApproval,
  scanMcpServer,
} from '@countersign/contracts/governance-kernel';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';

const routes = {
  disableMcpServer,
  getMcpServer,
  listMcpServers,
  registerMcpServer,
  requestMcpServerApproval,
  scanMcpServer,
};

/** Client for MCP servers of the open workspace. It loads with the page. */
export function useRegistry(): Client<typeof routes> {
  const { id } = useWorkspace();
  return useMemo(() => workspaceClient(routes, id), [id]);
}
