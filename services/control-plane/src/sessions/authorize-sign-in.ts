import type { UserId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { gatewayAnswers } from '../siblings/gateway-answers.ts';
import type { Tx } from '../store/database.ts';
import type { StoredSession } from '../store/sessions.ts';
import { endSignIn } from './end-sign-in.ts';

type Deps = Pick<Context, 'newEvent' | 'directory' | 'now' | 'transaction'>;

/** `connectionId`: the identity provider that signed the person in. `null` for a passkey or a code. */
type SignIn = { userId: UserId; connectionId: string | null };
type Opened = { session: StoredSession };

/**
 * Asks the gateway, which stores the addresses of people, whether this person may sign in this way. Throws
 * SSO_REQUIRED, and GATEWAY_UNAVAILABLE when the answer is unknown.
 */
async function authorizeSignIn(
  { directory }: Pick<Context, 'directory'>,
  { userId, connectionId: connection_id }: SignIn,
): Promise<void> {
  await gatewayAnswers(() => directory.authorizeSignIn({ params: { user_id: userId }, body: { connection_id } }));
}

/**
 * Opens the session of a person whom a passkey or an identity provider has proven, if the gateway permits this sign-in
 * before and after. Throws SSO_REQUIRED and GATEWAY_UNAVAILABLE.
 */
export async function openAuthorized<Session extends Opened>(
  context: Deps,
  { requestId, ...signIn }: SignIn & { requestId: string },
  open: (tx: Tx) => Promise<Session>,
): Promise<Session> {
  await authorizeSignIn(context, signIn);
  const opened = await context.transaction(open);
  return confirmSignIn(context, opened, { ...signIn, requestId });
}

/**
 * Asks again after the session was opened, and ends it if the answer has changed. A rule that comes into force later
 * ends existing sessions itself. Throws like authorizeSignIn.
 */
export async function confirmSignIn<Session extends Opened>(
  context: Deps,
  opened: Session,
  { connectionId, requestId }: Pick<SignIn, 'connectionId'> & { requestId: string },
): Promise<Session> {
  const { session } = opened;
  try {
    await authorizeSignIn(context, { userId: session.userId, connectionId });
    return opened;
  } catch (error) {
    await context.transaction((tx) => endSignIn(tx, context, session, { reason: 'access_ended', requestId }));
    throw error;
  }
}
