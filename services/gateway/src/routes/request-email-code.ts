import { requestEmailCode } from '@countersign/contracts/gateway';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { sendCode } from '../identity/send-code.ts';
import { mayBeShownCode } from '../identity/shows-code.ts';

export const requestEmailCodeRoute = (context: Context) =>
  handlePublic(requestEmailCode, { rateLimit: 'auth' })(async ({ body: { email }, req, log }) => ({
    sent: true,
    email,
    ...(await sendCode(context, { email, invite: null, isLocal: mayBeShownCode(req), log })),
  }));
