import { listGovernanceReceipts } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { listReceiptsOf } from '../../store/receipts.ts';

export const listGovernanceReceiptsRoute = ({ database }: Context) =>
  handleWorkspace(listGovernanceReceipts)(({ caller, query }) =>
    listReceiptsOf(database.reader, caller.workspaceId, query),
  );
