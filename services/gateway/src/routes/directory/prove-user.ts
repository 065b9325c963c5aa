import { proveUser } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { requireAddress } from '../../identity/require-address.ts';
import { proveAddress } from '../../identity/sign-in.ts';

export const proveUserRoute = (context: Context) =>
  handleSibling(proveUser)(async ({ params: { user_id }, body: { code }, requestId }) => {
    const { email } = await requireAddress(context, user_id);
    return proveAddress(context, { email, code, requestId }, async (_tx, { user }) => ({ user }));
  });
