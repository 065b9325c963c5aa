import { getRuntimeStatus } from '@countersign/contracts/commercial-gateway';
import { handleBasic } from '../handle.ts';
import type { LaneDeps } from '../runtime/deliver-lane.ts';
import { findStatus } from '../runtime/find-status.ts';

export const getRuntimeStatusRoute = (deps: LaneDeps) =>
  handleBasic(getRuntimeStatus)(({ caller: { workspaceId } }) => findStatus(deps, workspaceId));
