import { sendSignInCode } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { handleSibling } from '../handle.ts';
import { sendCode } from '../identity/send-code.ts';
import { findUserByAddress } from '../store/users.ts';

export const sendSignInCodeRoute = (context: Context) =>
  handleSibling(sendSignInCode)(async ({ body: { email, isLocal }, log }) => {
    const sent = await sendCode(context, { email, invite: null, isLocal, log });
    const user = await findUserByAddress(context.database.reader, email);
    return { ...sent, user_id: user?.id ?? null };
  });
