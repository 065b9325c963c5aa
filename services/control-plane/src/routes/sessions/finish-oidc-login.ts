import { finishOidcLogin } from '@countersign/contracts/control-plane';
import { handlePublic, seeOther } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { answerProvider } from '../../oidc/answer-provider.ts';
import { browserKeyOf } from '../../oidc/browser-key.ts';
import { openerOf } from '../../sessions/opener-of.ts';
import { cookieTexts } from '../../sessions/cookies.ts';

export const finishOidcLoginRoute = (context: Context) =>
  handlePublic(finishOidcLogin, { rateLimit: 'auth' })(async (input) => {
    const { params, query, req, addCookie } = input;
    const { search } = new URL(req.url ?? '/', context.config.consoleUrl);
    const proven = await answerProvider(
      context,
      {
        ...{ connectionId: params.connection_id, state: query.state ?? '', search },
        browserKey: browserKeyOf(req.headers.cookie, context.config),
      },
      openerOf(input, context.config),
    );
    if ('linkLoginId' in proven) return seeOther(`/console/sign-in?link=${proven.linkLoginId}`);
    for (const cookie of cookieTexts(proven.tokens, context.config)) addCookie(cookie);
    return seeOther('/console');
  });
