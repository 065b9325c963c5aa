import { hasRole } from '@countersign/contracts';
import { createApiKey } from '@countersign/contracts/gateway';
import { createKeyOf } from '../../api-keys/create-key.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { roleTooLow } from '../../workspaces/role.ts';

export const createApiKeyRoute = (context: Context) =>
  handleWorkspace(createApiKey)(({ body: { workspaceId: _, ...request }, caller, requestId }) => {
    if (!hasRole(caller.role, request.role)) throw roleTooLow(request.role, caller.role);
    return createKeyOf(context, { ...request, caller, requestId });
  });
