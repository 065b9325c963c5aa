import type { ProofMethod, UserId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { gatewayAnswers } from '../siblings/gateway-answers.ts';
import type { Tx } from '../store/database.ts';
import { finishLogin } from '../store/logins.ts';
import { confirmSignIn } from './authorize-sign-in.ts';
import { codeInvalid } from './code-invalid.ts';
import { countingRefusals } from './counting-refusals.ts';
import { openSession, type Opener } from './open-session.ts';

type Answered = {
  idHash: string;
  email: string;
  code: string;
  /** The proof by an identity provider. `record` runs in the transaction that opens the session. */
  beside?: { method: ProofMethod; connectionId: string; record(tx: Tx, userId: UserId): Promise<void> };
};

/**
 * Opens a session for a person who knows the code that was sent to an address. Throws CODE_INVALID, SSO_REQUIRED,
 * PERMISSION_DENIED, GATEWAY_UNAVAILABLE.
 */
export function signInByCode(
  context: Pick<Context, 'newEvent' | 'directory' | 'now' | 'transaction'>,
  { idHash, email, code, beside }: Answered,
  opener: Opener,
) {
  return countingRefusals(context, idHash, async () => {
    const body = { email, code, connection_id: beside?.connectionId };
    const { user } = await gatewayAnswers(() => context.directory.proveAddress({ body }));
    const opened = await context.transaction(async (tx) => {
      if (!(await finishLogin(tx, { idHash, userId: user.id }, context.now()))) throw codeInvalid();
      const methods: ProofMethod[] = beside === undefined ? ['code'] : [beside.method, 'code'];
      const begun = await openSession(tx, context, { ...opener, userId: user.id, methods });
      await beside?.record(tx, user.id);
      return begun;
    });
    const connectionId = beside?.connectionId ?? null;
    return confirmSignIn(context, opened, { connectionId, requestId: opener.requestId });
  });
}
