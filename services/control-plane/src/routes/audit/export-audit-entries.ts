import { instantOf } from '@countersign/contracts';
import { exportLines } from '@countersign/audit';
import { exportAuditEntries } from '@countersign/contracts/control-plane';
import { sendLines, takenOver } from '@countersign/service-kit';
import { readableScope } from '../../audit/readable-scope.ts';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { findAuditEnd, listAuditFrom } from '../../store/audit.ts';

export const exportAuditEntriesRoute = (context: Context) =>
  handlePerson(exportAuditEntries)(async ({ caller, query, requestId, res, signal }): Promise<typeof takenOver> => {
    const input = { workspaceId: query.workspace_id, operation: exportAuditEntries.operation, requestId };
    const scope = await readableScope(context, caller, input);
    const { reader } = context.database;
    const lines = exportLines({
      header: { format: 'countersign/audit-export.v2', scope, exported_at: instantOf(context.now()) },
      end: await findAuditEnd(reader, scope),
      listFrom: (seq, limit) => listAuditFrom(reader, { scope, seq, limit }),
    });
    await sendLines({ res, signal }, lines);
    return takenOver;
  });
