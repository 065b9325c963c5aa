import { AppError } from '@countersign/contracts';
import type { SignedIn } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { Tx } from '../store/database.ts';
import { countTry, endCode, findLiveCode, lockAddress } from '../store/email-codes.ts';
import { ensureUser } from '../store/users.ts';
import type { ProvenPerson } from './admit-person.ts';
import { checkCode } from './email-code.ts';
import { openSession } from './open-session.ts';

type SignInAttempt = { email: string; code: string; requestId: string };

/** Exchanges a code for a session; the first time it makes user and workspace. Throws CODE_INVALID, whatever was wrong. */
export function signIn(context: Context, attempt: SignInAttempt): Promise<SignedIn> {
  return proveAddress(context, attempt, (tx, person) => openSession(tx, context, person));
}

/** Does what a proven person may, in the transaction that spends the code. Throws CODE_INVALID, whatever was wrong. */
export async function proveAddress<Result extends object>(
  context: Context,
  attempt: SignInAttempt,
  act: (tx: Tx, person: ProvenPerson) => Promise<Result>,
): Promise<Result> {
  const result = await context.transaction(async (tx) => {
    const accepted = await spendTry(tx, context, attempt);
    // A refusal returns instead of throwing: the try that it cost has to be committed.
    if (accepted === null) return null;
    const { email, requestId } = attempt;
    const user = await ensureUser(tx, email, context.now());
    return act(tx, { user, knownAs: email, ...accepted, requestId });
  });
  if (result === null) throw new AppError('CODE_INVALID', 'The code is wrong or no longer valid');
  return result;
}

/** Null: refused. `inviteId`: the invite whose code it was. */
async function spendTry(
  tx: Tx,
  context: Context,
  { email, code }: SignInAttempt,
): Promise<{ inviteId: string | null } | null> {
  const now = context.now();
  await lockAddress(tx, email);
  const live = await findLiveCode(tx, email);
  const verdict = checkCode(live, { code, email, secret: context.config.sessionSecret, now });
  if (live !== null && verdict === 'refused') await countTry(tx, live.id);
  if (live !== null && verdict !== 'refused') await endCode(tx, live.id, now);
  if (verdict === 'accepted') return { inviteId: null };
  if (verdict === 'joins') return { inviteId: live?.inviteId ?? null };
  context.log.info('sign_in.refused', { verdict });
  return null;
}
