import { instantOf } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { insertLogin, type NewLogin } from '../store/logins.ts';
import { loginLifetimeMs } from './lifetimes.ts';
import { hashOf, newLoginId } from './tokens.ts';

/** Stores the login that a code completes. `code` is present when it may be shown: in development, to this machine. */
export async function recordCodeLogin(
  context: Pick<Context, 'now' | 'transaction'>,
  whose: Pick<NewLogin, 'email' | 'userId' | 'sessionId'>,
  code: string | undefined,
) {
  const loginId = newLoginId();
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + loginLifetimeMs);
  await context.transaction((tx) =>
    insertLogin(tx, { ...whose, statement: null, oidc: null, idHash: hashOf(loginId), createdAt, expiresAt }),
  );
  const begun = { login_id: loginId, method: 'code' as const, expires_at: instantOf(expiresAt) };
  return code === undefined ? begun : { ...begun, code };
}
