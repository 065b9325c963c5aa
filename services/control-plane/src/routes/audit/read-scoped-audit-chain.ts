import { readScopedAuditChain } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { findAuditEnd, listAuditFrom } from '../../store/audit.ts';

export const readScopedAuditChainRoute = ({ database: { reader } }: Pick<Context, 'database'>) =>
  handleSibling(readScopedAuditChain)(async ({ params: { workspace_id: scope }, query: { from: seq, limit } }) => ({
    end: await findAuditEnd(reader, scope),
    data: await listAuditFrom(reader, { scope, seq, limit }),
  }));
