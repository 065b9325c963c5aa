import { instantOf } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { codeInvalid } from '../sessions/code-invalid.ts';
import { hashOf } from '../sessions/tokens.ts';
import { gatewayAnswers } from '../siblings/gateway-answers.ts';
import { findOpenLogin, nameLogin } from '../store/logins.ts';
import { isSameBrowser } from './browser-key.ts';

type Input = { loginId: string; browserKey: string | null; isLocal: boolean };

/**
 * Sends the code by which the owner of an address links the identity that this browser has proven. Throws
 * CODE_INVALID, RATE_LIMITED, SSO_REQUIRED.
 */
export async function askForLink(
  context: Pick<Context, 'database' | 'directory' | 'now' | 'transaction'>,
  { loginId, browserKey, isLocal }: Input,
) {
  const idHash = hashOf(loginId);
  const login = await findOpenLogin(context.database.reader, idHash, context.now());
  const { email = null, oidc = null, expiresAt } = login ?? {};
  if (email === null || oidc?.step !== 'proven' || expiresAt === undefined) throw codeInvalid();
  if (!isSameBrowser(oidc.browserHash, browserKey)) throw codeInvalid();
  const { code, user_id: userId } = await gatewayAnswers(() =>
    context.directory.sendSignInCode({ body: { email, isLocal, connection_id: oidc.connectionId } }),
  );
  await context.transaction((tx) => nameLogin(tx, { idHash, userId }));
  const begun = { login_id: loginId, method: 'code' as const, expires_at: instantOf(expiresAt), email };
  return code === undefined ? begun : { ...begun, code };
}
