import { sendSignInCode } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { handleSibling } from '../handle.ts';
import { sendCode } from '../identity/send-code.ts';

export const sendSignInCodeRoute = (context: Context) =>
  handleSibling(sendSignInCode)(({ body: { email, isLocal }, log }) =>
    sendCode(context, { email, invite: null, isLocal, log }),
  );
