import { useMemo } from 'react';
import type { Client } from '@countersign/contracts';
import { createEvidenceHandle, listEvidenceHandles, revokeEvidenceHandle } from '@countersign/contracts/control-plane';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';

const routes = { createEvidenceHandle, listEvidenceHandles, revokeEvidenceHandle };

/** Client for the public proofs of the open workspace. It loads with the pages that use it. */
export function useHandles(): Client<typeof routes> {
  const { id } = useWorkspace();
  return useMemo(() => workspaceClient(routes, id), [id]);
}
