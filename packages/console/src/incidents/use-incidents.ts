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

/** Client for incidents and plans of the open workspace. It loads with the pages that use it. */
export function useIncidents(): Client<typeof routes> {
  const { id } = useWorkspace();
  return useMemo(() => workspaceClient(routes, id), [id]);
}
