import { listAudit } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { Handles } from '../handle.ts';
import { listAuditEntries } from '../store/audit.ts';

export const listAuditRoute = ({ database }: Context, { forWorkspace }: Handles) =>
  forWorkspace(listAudit, ({ caller, query }) => listAuditEntries(database.pool, caller.workspaceId, query));
