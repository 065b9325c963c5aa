import { authorizeSignIn } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { requirePerson } from '../../identity/require-address.ts';
import { requireSsoOf } from '../../identity/require-sso.ts';

export const authorizeSignInRoute = (context: Pick<Context, 'database' | 'transaction'>) =>
  handleSibling(authorizeSignIn)(async ({ params: { user_id }, body: { connection_id } }) => {
    const person = await requirePerson(context, user_id);
    await context.transaction((tx) => requireSsoOf(tx, person, connection_id));
    return { ok: true as const };
  });
