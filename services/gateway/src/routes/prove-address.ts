import { proveAddress } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { handleSibling } from '../handle.ts';
import { admitPerson } from '../identity/admit-person.ts';
import { isInvitedOnly } from '../members/is-invited-only.ts';
import * as signIn from '../identity/sign-in.ts';

export const proveAddressRoute = (context: Context) =>
  handleSibling(proveAddress)(({ body, requestId }) =>
    signIn.proveAddress(context, { ...body, requestId }, async (tx, person) => {
      // An invited person chooses at the console whether to join, and gets no workspace of their own beside it.
      const waits = person.inviteId === null && (await isInvitedOnly(tx, person.user, context.now()));
      if (!waits) await admitPerson(tx, context, person);
      return { user: person.user };
    }),
  );
