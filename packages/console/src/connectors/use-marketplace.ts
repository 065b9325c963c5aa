import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Client } from '@countersign/contracts';
import {
  approveInstall,
  createShim,
  disableConnector,
  getConnector,
  installConnector,
  listConnectors,
  listInstalls,
  listShims,
  revokeShim,
} from '@countersign/contracts/control-plane';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';

const routes = {
  approveInstall,
  createShim,
  disableConnector,
  getConnector,
  installConnector,
  listConnectors,
  listInstalls,
  listShims,
  revokeShim,
};

/** The first part of the keys of all queries about connectors. */
export const area = 'connectors';

/** Client for connectors of the open workspace. It loads with the page. */
export function useMarketplace(): Client<typeof routes> {
  const { id } = useWorkspace();
  return useMemo(() => workspaceClient(routes, id), [id]);
}

/** After a change, reads the connectors and their servers again. */
export function useReadAgain(): () => Promise<void> {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  return async () => {
    await Promise.all([area, 'tools'].map((what) => queries.invalidateQueries({ queryKey: [id, what] })));
  };
}
