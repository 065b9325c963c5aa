import { listRunReceipts } from '@countersign/contracts/control-plane';
import { listReceipts } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { checkReceipt } from '../runs/check-receipt.ts';
import { getRunOf } from '../runs/get-run.ts';
import { trustedKeys } from '../runs/trusted-keys.ts';
import { answerOf } from '../siblings/answer-of.ts';

export const listRunReceiptsRoute = (context: Context) =>
  handleWorkspace(listRunReceipts)(async ({ params, caller, query, signal }) => {
    const { id: session } = await getRunOf(context, params.run_id, caller);
    const keys = await trustedKeys(context);
    const asPerson = context.kernel.as(caller.assertion, { listReceipts });
    const asked = { query: { ...query, session_id: session }, signal };
    const { data, next_cursor } = await answerOf('kernel', () => asPerson.listReceipts(asked));
    const expected = { tenant: caller.workspaceId, session };
    return { data: data.map((receipt) => checkReceipt(receipt, keys, expected)), next_cursor };
  });
