import { listRunReceipts } from '@countersign/contracts/control-plane';
import { listReceipts } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { getRunOf } from '../../runs/get-run.ts';
import { answerOf } from '../../siblings/answer-of.ts';
import { checkReceipt } from '../../trust/check-receipt.ts';
import { trustedKeys } from '../../trust/trusted-keys.ts';
import { witnessed } from '../../trust/witnessed.ts';

export const listRunReceiptsRoute = (context: Context) =>
  handleWorkspace(listRunReceipts)(async ({ params, caller, query, signal }) => {
    const { id: session } = await getRunOf(context, params.run_id, caller);
    const keys = await trustedKeys(context);
    const asPerson = context.kernel.as(caller.assertion, { listReceipts });
    const input = { query: { ...query, session_id: session }, signal };
    const { data, next_cursor } = await answerOf('kernel', () => asPerson.listReceipts(input));
    const expected = { tenant: caller.workspaceId, session };
    const shown = await Promise.all(data.map((receipt) => witnessed(context, receipt, { keys, ...caller })));
    return { data: shown.map((receipt) => checkReceipt(receipt, keys, expected)), next_cursor };
  });
