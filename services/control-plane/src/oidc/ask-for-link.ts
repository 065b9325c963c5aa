import type { Context } from '../context.ts';
import { codeInvalid } from '../sessions/code-invalid.ts';
import { hashOf } from '../sessions/tokens.ts';
import { gatewayAnswers } from '../siblings/gateway-answers.ts';
import { instant } from '../store/instant.ts';
import { findOpenLogin, nameLogin } from '../store/logins.ts';
import { isSameBrowser } from './browser-key.ts';

type Asked = { loginId: string; browserKey: string | null; isLocal: boolean };

/** Sends the code by which the person of an address links the identity that this browser has proven. Throws CODE_INVALID, RATE_LIMITED. */
export async function askForLink(context: Context, { loginId, browserKey, isLocal }: Asked) {
  const idHash = hashOf(loginId);
  const login = await findOpenLogin(context.database.reader, idHash, context.now());
  const { email = null, oidc = null, expiresAt } = login ?? {};
  if (email === null || oidc?.step !== 'proven' || expiresAt === undefined) throw codeInvalid();
  if (!isSameBrowser(oidc.browserHash, browserKey)) throw codeInvalid();
  const { code, user_id: userId } = await gatewayAnswers(() =>
    context.directory.sendSignInCode({ body: { email, isLocal } }),
  );
  await context.transaction((tx) => nameLogin(tx, { idHash, userId }));
  const begun = { login_id: loginId, method: 'code' as const, expires_at: instant(expiresAt), email };
  return code === undefined ? begun : { ...begun, code };
}
