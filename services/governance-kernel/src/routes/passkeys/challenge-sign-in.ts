import { challengeSignIn } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { beginSignIn } from '../../controls/passkeys/sign-in.ts';

export const challengeSignInRoute = ({ passkeys }: Context) =>
  handleSystem(challengeSignIn)(async () => {
    const { statement, options } = await beginSignIn(passkeys);
    return challengeSignIn.reply.parse({ statement, options, expires_at: statement.expires_at });
  });
