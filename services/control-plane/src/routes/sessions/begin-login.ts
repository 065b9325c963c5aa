import { beginLogin } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { askForLink } from '../../oidc/ask-for-link.ts';
import { askProvider } from '../../oidc/ask-provider.ts';
import { browserKeyCookie, browserKeyOf, newBrowserKey } from '../../oidc/browser-key.ts';
import { askForPasskey } from '../../passkeys/ask-for-passkey.ts';
import { recordCodeLogin } from '../../sessions/record-code-login.ts';
import { isFromThisMachine } from '../../siblings/from-this-machine.ts';
import { gatewayAnswers } from '../../siblings/gateway-answers.ts';

export const beginLoginRoute = (context: Context) =>
  handlePublic(beginLogin, { rateLimit: 'auth' })(async ({ body, req, addCookie }) => {
    const isLocal = isFromThisMachine(req);
    const broughtKey = browserKeyOf(req.headers.cookie, context.config);
    switch (body.method) {
      case 'passkey':
        return askForPasskey(context, { userId: null, sessionId: null });
      case 'oidc': {
        const browserKey = broughtKey ?? newBrowserKey();
        const begun = await askProvider(context, { connectionId: body.connection_id, browserKey });
        addCookie(browserKeyCookie(browserKey, context.config));
        return begun;
      }
      case 'link':
        return askForLink(context, { loginId: body.login_id, browserKey: broughtKey, isLocal });
      case 'code': {
        const { email } = body;
        const sent = gatewayAnswers(() => context.directory.sendSignInCode({ body: { email, isLocal } }));
        const { code, user_id: userId } = await sent;
        return recordCodeLogin(context, { email, userId, sessionId: null }, code);
      }
      default:
        return body satisfies never;
    }
  });
