import { listPolicyVersions } from '@countersign/contracts/control-plane';
import { answer } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { listVersions } from '../../store/policy-activations.ts';

export const listPolicyVersionsRoute = (context: Context) =>
  handleWorkspace(listPolicyVersions)(async ({ caller: { workspaceId }, query: { limit, cursor } }) => {
    const page = { limit: limit + 1, below: cursor === undefined ? undefined : Number(cursor) };
    const found = await listVersions(context.database.reader, workspaceId, page);
    const data = found.slice(0, limit);
    return answer(200, { data, next_cursor: found.length > limit ? String(data.at(-1)?.epoch) : null });
  });
