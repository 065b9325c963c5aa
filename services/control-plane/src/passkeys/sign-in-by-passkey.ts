import type { Context } from '../context.ts';
import { openAuthorized } from '../sessions/authorize-sign-in.ts';
import { openSession, type Opener } from '../sessions/open-session.ts';
import { proveByPasskey } from './prove-by-passkey.ts';

type Deps = Pick<Context, 'database' | 'newEvent' | 'directory' | 'kernel' | 'now' | 'transaction'>;

/** Opens a session for the person who signed with a passkey. Throws like proveByPasskey and openAuthorized. */
export async function signInByPasskey(context: Deps, answered: Parameters<typeof proveByPasskey>[1], opener: Opener) {
  const { userId } = await proveByPasskey(context, answered);
  const signIn = { userId, connectionId: null, requestId: opener.requestId };
  return openAuthorized(context, signIn, (tx) => openSession(tx, context, { ...opener, userId, methods: ['passkey'] }));
}
