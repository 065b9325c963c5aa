import { useMemo } from 'react';
import type { Client } from '@countersign/contracts';
import {
  approvePlan,
  commitPlan,
  createIncident,
  createPlan,
  getIncident,
  listIncidents,
  transitionIncident,
} from '@countersign/contracts/control-plane';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';

const routes = { approvePlan, commitPlan, createIncident, createPlan, getIncident, listIncidents, transitionIncident };

/** Calls about incidents and plans of the open workspace. They load with the pages that use them. */
export function useIncidents(): Client<typeof routes> {
  const { id } = useWorkspace();
  return useMemo(() => workspaceClient(routes, id), [id]);
}
