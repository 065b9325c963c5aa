import { proveAddress } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { admitPerson } from '../../identity/admit-person.ts';
import { requireSsoNow } from '../../identity/require-sso.ts';
import * as signIn from '../../identity/sign-in.ts';
import { isInvitedOnly } from '../../members/is-invited-only.ts';

export const proveAddressRoute = (context: Context) =>
  handleSibling(proveAddress)(({ body: { connection_id: connectionId, ...attempt }, requestId }) =>
    signIn.proveAddress(context, { ...attempt, requestId }, async (tx, person) => {
      await requireSsoNow(tx, { email: attempt.email, connectionId });
      // An invited person chooses in the console whether to join, and gets no workspace of their own before that.
      const waits = person.inviteId === null && (await isInvitedOnly(tx, person.user, context.now()));
      if (!waits) await admitPerson(tx, context, person);
      return { user: person.user };
    }),
  );
