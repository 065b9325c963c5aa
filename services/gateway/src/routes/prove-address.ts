import { proveAddress } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { handleSibling } from '../handle.ts';
import { admitPerson } from '../identity/admit-person.ts';
import * as signIn from '../identity/sign-in.ts';

export const proveAddressRoute = (context: Context) =>
  handleSibling(proveAddress)(({ body, requestId }) =>
    signIn.proveAddress(context, { ...body, requestId }, async (tx, person) => {
      await admitPerson(tx, context, person);
      return { user: person.user };
    }),
  );
