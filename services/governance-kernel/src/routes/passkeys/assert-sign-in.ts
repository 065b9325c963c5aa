import { assertSignIn } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { passkeyView } from '../../controls/passkeys/passkey-view.ts';
import { endSignIn } from '../../controls/passkeys/sign-in.ts';

export const assertSignInRoute = ({ passkeys }: Context) =>
  handleSystem(assertSignIn)(async ({ params: { tenant, credential_id: id }, body }) => {
    const { principal_id: principal, statement, assertion } = body;
    return passkeyView(await endSignIn(passkeys, { tenant, principal, id, statement, assertion }));
  });
