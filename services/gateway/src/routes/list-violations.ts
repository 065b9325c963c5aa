import { listViolations } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { Handles } from '../handle.ts';
import { listViolationsOf } from '../store/violations.ts';

export const listViolationsRoute = ({ database }: Context, { forWorkspace }: Handles) =>
  forWorkspace(listViolations, ({ caller, query }) => listViolationsOf(database.pool, caller.workspaceId, query));
