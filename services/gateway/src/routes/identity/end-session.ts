import { endSession } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSession } from '../../handle.ts';
import { endSignIn } from '../../identity/end-sign-in.ts';

export const endSessionRoute = (context: Context) =>
  handleSession(endSession)(async ({ caller: { session, user }, requestId }) => {
    const { familyId } = session;
    await context.transaction((tx) => endSignIn(tx, context, { user, familyId, action: 'session.ended', requestId }));
    return { ok: true as const };
  });
