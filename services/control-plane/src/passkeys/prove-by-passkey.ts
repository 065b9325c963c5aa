import { AppError, PrincipalId, TenantId } from '@countersign/contracts';
import { assertSignIn, type PasskeyAssertion, type SignInStatement } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { codeInvalid } from '../sessions/code-invalid.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { finishLogin } from '../store/logins.ts';
import { findPasskey, recordPasskeyUse, type StoredPasskey } from '../store/passkeys.ts';

type Answered = { idHash: string; statement: SignInStatement; assertion: PasskeyAssertion };

/**
 * The passkey that signed the challenge of a login (the assertion is attacker-controlled). Any answer consumes the
 * login, including a wrong one. Throws PASSKEY_REFUSED, CODE_INVALID for an ended login, GOVERNANCE_UNAVAILABLE.
 */
export async function proveByPasskey(
  context: Pick<Context, 'database' | 'kernel' | 'now' | 'transaction'>,
  { idHash, statement, assertion }: Answered,
): Promise<StoredPasskey> {
  const passkey = await findPasskey(context.database.reader, assertion.id);
  const isFirst = await context.transaction((tx) =>
    finishLogin(tx, { idHash, userId: passkey?.userId ?? null }, context.now()),
  );
  if (!isFirst) throw codeInvalid();
  if (passkey === null) throw passkeyRefused();
  const { userId, workspaceId, credentialId: credential_id } = passkey;
  await answerOf('kernel', () =>
    context.kernel.own({ assertSignIn }).assertSignIn({
      params: { tenant: TenantId.parse(workspaceId), credential_id },
      body: { principal_id: PrincipalId.parse(userId), statement, assertion },
    }),
  );
  await context.transaction((tx) => recordPasskeyUse(tx, passkey, context.now()));
  return passkey;
}

export function passkeyRefused(): AppError {
  return new AppError('PASSKEY_REFUSED', 'This passkey cannot be used for this login. Try again with another passkey');
}
