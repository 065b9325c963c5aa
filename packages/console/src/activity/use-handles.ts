import { useMemo } from 'react';
import type { Client } from '@countersign/contracts';
import { createEvidenceHandle, listEvidenceHandles, revokeEvidenceHandle } from '@countersign/contracts/control-plane';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';

const routes = { createEvidenceHandle, listEvidenceHandles, revokeEvidenceHandle };

/** Calls about public proofs of the open workspace. They load with the pages that use them. */
export function useHandles(): Client<typeof routes> {
  const { id } = useWorkspace();
  return useMemo(() => workspaceClient(routes, id), [id]);
}
