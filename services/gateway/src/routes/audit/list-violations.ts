import { listViolations } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { listViolationsOf } from '../../store/violations.ts';

export const listViolationsRoute = ({ database }: Context) =>
  handleWorkspace(listViolations)(({ caller, query }) => listViolationsOf(database.reader, caller.workspaceId, query));
