import { finishLogin } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { browserKeyOf, isSameBrowser } from '../../oidc/browser-key.ts';
import { signInByLink } from '../../oidc/sign-in-by-link.ts';
import { signInByPasskey } from '../../passkeys/sign-in-by-passkey.ts';
import { codeInvalid } from '../../sessions/code-invalid.ts';
import { cookieTexts } from '../../sessions/cookies.ts';
import { openerOf } from '../../sessions/opener-of.ts';
import { sessionView } from '../../sessions/session-view.ts';
import { signInByCode } from '../../sessions/sign-in-by-code.ts';
import { hashOf } from '../../sessions/tokens.ts';
import { findOpenLogin } from '../../store/logins.ts';

export const finishLoginRoute = (context: Context) =>
  handlePublic(finishLogin, { rateLimit: 'auth' })(async (input) => {
    const { body, req, addCookie } = input;
    const { login_id, code, assertion } = body;
    const { config, database } = context;
    const idHash = hashOf(login_id);
    const login = await findOpenLogin(database.reader, idHash, context.now());
    if (login === null || login.sessionId !== null) throw codeInvalid();
    const { email, statement, oidc } = login;
    // Only the browser that began a login at a provider may finish it. Otherwise another person could link the
    // provider's identity to themselves.
    if (oidc !== null && !isSameBrowser(oidc.browserHash, browserKeyOf(req.headers.cookie, config)))
      throw codeInvalid();
    const opener = openerOf(input, config);
    const signIn = () => {
      if (code !== undefined && email !== null) {
        const proof = { idHash, email, code };
        return oidc?.step === 'proven'
          ? signInByLink(context, { ...proof, link: oidc }, opener)
          : signInByCode(context, proof, opener);
      }
      if (assertion === undefined || statement === null) throw codeInvalid();
      return signInByPasskey(context, { idHash, statement, assertion }, opener);
    };
    const { session, tokens } = await signIn();
    for (const cookie of cookieTexts(tokens, config)) addCookie(cookie);
    return sessionView(session, config.sessionSecret);
  });
