import { beginReauth } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { askForPasskey } from '../../passkeys/ask-for-passkey.ts';
import { recordCodeLogin } from '../../sessions/record-code-login.ts';
import { requireSession } from '../../sessions/require-session.ts';
import { isFromThisMachine } from '../../siblings/from-this-machine.ts';
import { gatewayAnswers } from '../../siblings/gateway-answers.ts';

export const beginReauthRoute = (context: Context) =>
  handlePerson(beginReauth, { rateLimit: 'auth' })(async ({ caller, body: { method }, req }) => {
    const { id: sessionId, userId } = await requireSession(context, caller);
    if (method === 'passkey') return askForPasskey(context, { userId, sessionId });
    const body = { isLocal: isFromThisMachine(req) };
    const { code } = await gatewayAnswers(() => context.directory.sendUserCode({ params: { user_id: userId }, body }));
    return recordCodeLogin(context, { email: null, userId, sessionId }, code);
  });
