import { listAuditEntries } from '@countersign/contracts/control-plane';
import { readableScope } from '../../audit/readable-scope.ts';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import * as audit from '../../store/audit.ts';

export const listAuditEntriesRoute = (context: Context) =>
  handlePerson(listAuditEntries)(async ({ caller, query: { workspace_id: workspaceId, ...query }, requestId }) => {
    const { operation } = listAuditEntries;
    const scope = await readableScope(context, caller, { workspaceId, operation, requestId });
    return audit.listAuditEntries(context.database.reader, scope, query);
  });
