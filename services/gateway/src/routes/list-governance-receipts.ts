import { listGovernanceReceipts } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { Handles } from '../handle.ts';
import { listReceiptsOf } from '../store/receipts.ts';

export const listGovernanceReceiptsRoute = ({ database }: Context, { forWorkspace }: Handles) =>
  forWorkspace(listGovernanceReceipts, ({ caller, query }) => listReceiptsOf(database.pool, caller.workspaceId, query));
