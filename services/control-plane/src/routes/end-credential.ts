import { SignInId } from '@countersign/contracts';
import { endCredential } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handlePerson } from '../handle.ts';
import { notFound } from '../not-found.ts';
import { endPasskey } from '../passkeys/end-passkey.ts';
import { endSignIn } from '../sessions/end-sign-in.ts';
import { requireSession } from '../sessions/require-session.ts';
import { isLive } from '../sessions/session-state.ts';
import { findPasskey } from '../store/passkeys.ts';
import { findSession } from '../store/sessions.ts';

export const endCredentialRoute = (context: Context) =>
  handlePerson(endCredential)(async ({ caller, params: { credential_id }, requestId }) => {
    const { userId } = await requireSession(context, caller);
    const { reader } = context.database;
    const id = SignInId.safeParse(credential_id).data;
    if (id === undefined) {
      const passkey = await findPasskey(reader, credential_id);
      if (passkey?.userId !== userId) throw notFound();
      await endPasskey(context, passkey, requestId);
    } else {
      const session = await findSession(reader, id);
      if (session?.userId !== userId || !isLive(session, context.now())) throw notFound();
      await context.transaction((tx) => endSignIn(tx, context, session, { reason: 'ended_by_owner', requestId }));
    }
    return { ended: true as const };
  });
