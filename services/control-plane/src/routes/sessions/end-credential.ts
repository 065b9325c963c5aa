import { SignInId, type UserId } from '@countersign/contracts';
import { endCredential, ProviderIdentityId } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { notFound } from '../../not-found.ts';
import { endIdentity } from '../../oidc/end-identity.ts';
import { endPasskey } from '../../passkeys/end-passkey.ts';
import { endSignIn } from '../../sessions/end-sign-in.ts';
import { requireSession } from '../../sessions/require-session.ts';
import { isLive } from '../../sessions/session-state.ts';
import { findPasskey } from '../../store/passkeys.ts';
import { listIdentitiesOf } from '../../store/provider-identities.ts';
import { findSession } from '../../store/sessions.ts';

export const endCredentialRoute = (context: Context) =>
  handlePerson(endCredential)(async ({ caller, params: { credential_id }, requestId }) => {
    const { userId } = await requireSession(context, caller);
    const input = { userId, requestId };
    const sessionId = SignInId.safeParse(credential_id).data;
    if (sessionId !== undefined) await endOwnSession(context, sessionId, input);
    else if (ProviderIdentityId.safeParse(credential_id).success) await endOwnIdentity(context, credential_id, input);
    else await endOwnPasskey(context, credential_id, input);
    return { ended: true as const };
  });

type Input = { userId: UserId; requestId: string };

async function endOwnSession(context: Context, id: SignInId, { userId, requestId }: Input): Promise<void> {
  const session = await findSession(context.database.reader, id);
  if (session?.userId !== userId || !isLive(session, context.now())) throw notFound();
  await context.transaction((tx) => endSignIn(tx, context, session, { reason: 'ended_by_owner', requestId }));
}

async function endOwnIdentity(context: Context, identityId: string, { userId, requestId }: Input): Promise<void> {
  const identities = await listIdentitiesOf(context.database.reader, userId);
  const identity = identities.find(({ id }) => id === identityId);
  if (identity === undefined) throw notFound();
  await endIdentity(context, identity, requestId);
}

async function endOwnPasskey(context: Context, credentialId: string, { userId, requestId }: Input): Promise<void> {
  const passkey = await findPasskey(context.database.reader, credentialId);
  if (passkey?.userId !== userId) throw notFound();
  await endPasskey(context, passkey, requestId);
}
