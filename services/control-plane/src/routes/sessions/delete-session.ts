import { deleteSession } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { endedCookieTexts } from '../../sessions/cookies.ts';
import { endSignIn } from '../../sessions/end-sign-in.ts';
import { requireSession } from '../../sessions/require-session.ts';

export const deleteSessionRoute = (context: Context) =>
  handlePerson(deleteSession)(async ({ caller, requestId, addCookie }) => {
    const session = await requireSession(context, caller);
    await context.transaction((tx) => endSignIn(tx, context, session, { reason: 'signed_out', requestId }));
    for (const cookie of endedCookieTexts(context.config)) addCookie(cookie);
    return { ended: true as const };
  });
