import { getRuntimeStatus } from '@countersign/contracts/commercial-gateway';
import { orgOfCaller } from '../../basic/org-of-caller.ts';
import { handleWorkspace } from '../../handle.ts';
import type { LaneDeps } from '../../runtime/deliver-lane.ts';
import { findStatus } from '../../runtime/find-status.ts';

export const getRuntimeStatusRoute = (deps: LaneDeps) =>
  handleWorkspace(getRuntimeStatus)(async ({ caller }) => {
    await orgOfCaller(deps.database.reader, caller);
    return findStatus(deps, caller.workspaceId);
  });
