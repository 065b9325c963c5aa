import { AppError } from '@countersign/contracts';
import { readAuditChain } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { findAuditHead, listAuditFrom } from '../../store/audit.ts';

export const readAuditChainRoute = ({ database: { reader } }: Context) =>
  handleSibling(readAuditChain)(async ({ params: { workspace_id: workspaceId }, query: { from: seq, limit } }) => {
    const end = await findAuditHead(reader, workspaceId);
    if (end === null) throw new AppError('NOT_FOUND', 'There is no such workspace');
    return { end, data: await listAuditFrom(reader, { workspaceId, seq, limit }) };
  });
