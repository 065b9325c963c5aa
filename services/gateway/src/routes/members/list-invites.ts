import { listInvites } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { listLiveInvites } from '../../store/invites.ts';

export const listInvitesRoute = (context: Context) =>
  handleWorkspace(listInvites)(({ query, caller: { workspaceId } }) =>
    listLiveInvites(context.database.reader, { workspaceId, now: context.now() }, query),
  );
