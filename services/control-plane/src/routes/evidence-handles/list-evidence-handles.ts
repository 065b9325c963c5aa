import { listEvidenceHandles } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleKeyed } from '../../handle.ts';
import { handleSummary } from '../../handles/handle-view.ts';
import { listHandles } from '../../store/evidence-handles.ts';

export const listEvidenceHandlesRoute = (context: Context) =>
  handleKeyed(listEvidenceHandles)(async ({ query, caller: { workspaceId } }) => {
    const { database, now } = context;
    const { handles, nextCursor } = await listHandles(database.reader, { workspaceId, now: now(), ...query });
    return { data: handles.map((handle) => handleSummary(context, handle)), next_cursor: nextCursor };
  });
