import { listAudit } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { listAuditEntries } from '../../store/audit.ts';

export const listAuditRoute = ({ database }: Context) =>
  handleWorkspace(listAudit)(({ caller, query }) => listAuditEntries(database.reader, caller.workspaceId, query));
