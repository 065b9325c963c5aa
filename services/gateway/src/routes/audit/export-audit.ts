import { exportLines } from '@countersign/audit';
import { instantOf, WorkspaceId } from '@countersign/contracts';
import { exportAudit } from '@countersign/contracts/gateway';
import { sendLines, takenOver } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { findAuditEnd, listAuditFrom } from '../../store/audit.ts';

export const exportAuditRoute = ({ database: { reader }, now }: Context) =>
  handleWorkspace(exportAudit)(async ({ caller: { workspaceId }, res, signal }): Promise<typeof takenOver> => {
    const lines = exportLines({
      header: {
        format: 'countersign/audit-export.v1',
        workspaceId: WorkspaceId.parse(workspaceId),
        exportedAt: instantOf(now()),
      },
      end: await findAuditEnd(reader, workspaceId),
      listFrom: (seq, limit) => listAuditFrom(reader, { workspaceId, seq, limit }),
    });
    await sendLines({ res, signal }, lines);
    return takenOver;
  });
