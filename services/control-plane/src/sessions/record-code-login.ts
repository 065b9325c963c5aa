import type { Context } from '../context.ts';
import { instant } from '../store/instant.ts';
import { insertLogin, type NewLogin } from '../store/logins.ts';
import { loginLifetimeMs } from './lifetimes.ts';
import { hashOf, newLoginId } from './tokens.ts';

/** Remembers for what a code was sent. `code` is what may be shown of it: in development, to this machine. */
export async function recordCodeLogin(
  context: Context,
  whose: Pick<NewLogin, 'email' | 'userId' | 'sessionId'>,
  code: string | undefined,
) {
  const loginId = newLoginId();
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + loginLifetimeMs);
  await context.transaction((tx) =>
    insertLogin(tx, { ...whose, statement: null, oidc: null, idHash: hashOf(loginId), createdAt, expiresAt }),
  );
  const begun = { login_id: loginId, method: 'code' as const, expires_at: instant(expiresAt) };
  return code === undefined ? begun : { ...begun, code };
}
