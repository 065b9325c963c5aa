import { sendUserCode } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { requireAddress } from '../../identity/require-address.ts';
import { sendCode } from '../../identity/send-code.ts';

export const sendUserCodeRoute = (context: Context) =>
  handleSibling(sendUserCode)(async ({ params: { user_id }, body: { isLocal }, log }) => {
    const { email } = await requireAddress(context, user_id);
    return sendCode(context, { email, invite: null, isLocal, log });
  });
