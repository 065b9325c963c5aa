import { deleteSession } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { publishSessionEnded } from '../events.ts';
import { handlePerson } from '../handle.ts';
import { endedCookieTexts } from '../sessions/cookies.ts';
import { requireSession } from '../sessions/require-session.ts';
import { endSession } from '../store/sessions.ts';

export const deleteSessionRoute = (context: Context) =>
  handlePerson(deleteSession)(async ({ caller, addCookie }) => {
    const session = await requireSession(context, caller);
    await context.transaction(async (tx) => {
      const isEnded = await endSession(tx, session, { now: context.now(), reason: 'signed_out' });
      if (isEnded) await publishSessionEnded(tx, context, { ...session, reason: 'signed_out' });
    });
    for (const cookie of endedCookieTexts(context.config)) addCookie(cookie);
    return { ended: true as const };
  });
