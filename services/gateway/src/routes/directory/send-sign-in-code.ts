import { sendSignInCode } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { requireSso } from '../../identity/require-sso.ts';
import { sendCode } from '../../identity/send-code.ts';
import { findUserByAddress } from '../../store/users.ts';

export const sendSignInCodeRoute = (context: Context) =>
  handleSibling(sendSignInCode)(async ({ body: { email, isLocal, connection_id: connectionId }, log }) => {
    await requireSso(context.database.reader, { email, connectionId });
    const sent = await sendCode(context, { email, invite: null, isLocal, log });
    const user = await findUserByAddress(context.database.reader, email);
    return { ...sent, user_id: user?.id ?? null };
  });
