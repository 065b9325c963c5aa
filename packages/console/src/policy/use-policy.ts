import { useMemo } from 'react';
import type { Client } from '@countersign/contracts';
import {
  activatePolicy,
  compilePolicyDraft,
  createPolicyTest,
  createWhatIf,
  deletePolicyShadow,
  getActivePolicy,
  getPolicyDraft,
  getPolicyVersion,
  getWhatIf,
  listPolicyVersions,
  putPolicyDraft,
  putPolicyShadow,
} from '@countersign/contracts/control-plane';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';

const routes = {
  activatePolicy,
  compilePolicyDraft,
  createPolicyTest,
  createWhatIf,
  deletePolicyShadow,
  getActivePolicy,
  getPolicyDraft,
  getPolicyVersion,
  getWhatIf,
  listPolicyVersions,
  putPolicyDraft,
  putPolicyShadow,
};

/** Client for the policy of the open workspace. It loads with the pages that use it. */
export function usePolicy(): Client<typeof routes> {
  const { id } = useWorkspace();
  return useMemo(() => workspaceClient(routes, id), [id]);
}
