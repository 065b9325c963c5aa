import type { Context } from '../context.ts';
import { openSession, type Opener } from '../sessions/open-session.ts';
import { proveByPasskey } from './prove-by-passkey.ts';

/** A session for the person who answered with a passkey. Throws as proveByPasskey. */
export async function signInByPasskey(
  context: Context,
  answered: Parameters<typeof proveByPasskey>[1],
  opener: Opener,
) {
  const { userId } = await proveByPasskey(context, answered);
  return context.transaction((tx) => openSession(tx, context, { ...opener, userId, methods: ['passkey'] }));
}
