import { revokeSession } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleSession } from '../../handle.ts';
import { endSignIn } from '../../identity/end-sign-in.ts';
import { isLiveFamilyOf } from '../../store/sessions.ts';

export const revokeSessionRoute = (context: Context) =>
  handleSession(revokeSession)(async ({ params: { id: familyId }, caller: { user }, requestId }) => {
    await context.transaction(async (tx) => {
      if (!(await isLiveFamilyOf(tx, { userId: user.id, familyId, now: context.now() }))) throw notFound();
      await endSignIn(tx, context, { user, familyId, action: 'session.revoked', requestId });
    });
    return { ok: true as const };
  });
