import { AppError } from '@countersign/contracts';
import { tellMembers } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { publishMembersChanged } from '../../events.ts';
import { handleSibling } from '../../handle.ts';
import { findWorkspace } from '../../store/workspaces.ts';

export const tellMembersRoute = (context: Context) =>
  handleSibling(tellMembers)(async ({ params: { workspace_id: id } }) => {
    if ((await findWorkspace(context.database.reader, id)) === null)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    await context.transaction((tx) => publishMembersChanged(tx, context, id));
    return { ok: true as const };
  });
