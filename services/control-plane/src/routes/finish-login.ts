import { AppError } from '@countersign/contracts';
import { finishLogin } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { gatewayAnswers } from '../directory/gateway-answers.ts';
import { cookieTexts } from '../sessions/cookies.ts';
import { openSession } from '../sessions/open-session.ts';
import { sessionView } from '../sessions/session-view.ts';
import { hashOf } from '../sessions/tokens.ts';
import * as logins from '../store/logins.ts';

export const finishLoginRoute = (context: Context) =>
  handlePublic(finishLogin, { rateLimit: 'auth' })(async ({ body: { login_id, code }, addCookie }) => {
    const idHash = hashOf(login_id);
    const login = await logins.findOpenLogin(context.database.reader, idHash, context.now());
    if (login === null) throw codeInvalid();
    const { email } = login;
    const { user } = await gatewayAnswers(() => context.directory.proveAddress({ body: { email, code } }));
    const { session, tokens } = await context.transaction(async (tx) => {
      if (!(await logins.finishLogin(tx, idHash, context.now()))) throw codeInvalid();
      return openSession(tx, context, { userId: user.id, method: 'code' });
    });
    for (const cookie of cookieTexts(tokens, context.config)) addCookie(cookie);
    return sessionView(session, context.config.sessionSecret);
  });

function codeInvalid(): AppError {
  return new AppError('CODE_INVALID', 'The code is wrong or no longer valid');
}
