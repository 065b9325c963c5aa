import { instantOf } from '@countersign/contracts';
import { getDeviceLogin } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { requireDeviceLogin } from '../../devices/require-device-login.ts';
import { shownUserCode } from '../../devices/user-code.ts';
import { handlePerson } from '../../handle.ts';
import { requireSession } from '../../sessions/require-session.ts';

export const getDeviceLoginRoute = (context: Context) =>
  handlePerson(getDeviceLogin, { rateLimit: 'auth' })(async ({ caller, params: { user_code }, clientAddress }) => {
    await requireSession(context, caller);
    const login = await requireDeviceLogin(context, { typed: user_code, address: clientAddress });
    const { userCode, client, address, workspaceId, role, expiresAt } = login;
    return {
      user_code: shownUserCode(userCode),
      ...{ client, address, role, workspace_id: workspaceId },
      expires_at: instantOf(expiresAt),
    };
  });
