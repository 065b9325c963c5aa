import type { ProofMethod, UserId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { gatewayAnswers } from '../siblings/gateway-answers.ts';
import type { Tx } from '../store/database.ts';
import { finishLogin } from '../store/logins.ts';
import { codeInvalid } from './code-invalid.ts';
import { countingRefusals } from './counting-refusals.ts';
import { openSession, type Opener } from './open-session.ts';

type Answered = {
  idHash: string;
  email: string;
  code: string;
  /** Additional facts that are proven by then, and committed with the session. */
  beside?: { method: ProofMethod; record(tx: Tx, userId: UserId): Promise<void> };
};

/**
 * A session for a person who knows the code that was sent to an address. Throws CODE_INVALID, PERMISSION_DENIED,
 * GATEWAY_UNAVAILABLE.
 */
export function signInByCode(context: Context, { idHash, email, code, beside }: Answered, opener: Opener) {
  return countingRefusals(context, idHash, async () => {
    const { user } = await gatewayAnswers(() => context.directory.proveAddress({ body: { email, code } }));
    return context.transaction(async (tx) => {
      if (!(await finishLogin(tx, { idHash, userId: user.id }, context.now()))) throw codeInvalid();
      const methods: ProofMethod[] = beside === undefined ? ['code'] : [beside.method, 'code'];
      const opened = await openSession(tx, context, { ...opener, userId: user.id, methods });
      await beside?.record(tx, user.id);
      return opened;
    });
  });
}
