import { requestEmailCode } from '@countersign/contracts/gateway';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { requireSso } from '../../identity/require-sso.ts';
import { sendCode } from '../../identity/send-code.ts';
import { mayBeShownCode } from '../../identity/shows-code.ts';

export const requestEmailCodeRoute = (context: Context) =>
  handlePublic(requestEmailCode, { rateLimit: 'auth' })(async ({ body: { email }, req, log }) => {
    await requireSso(context.database.reader, { email });
    const sent = await sendCode(context, { email, invite: null, isLocal: mayBeShownCode(req), log });
    return { sent: true, email, ...sent };
  });
