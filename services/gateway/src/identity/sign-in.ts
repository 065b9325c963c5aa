import { AppError } from '@countersign/contracts';
import type { SignedIn } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { Tx } from '../store/database.ts';
import { countTry, endCode, findLiveCode, lockAddress } from '../store/email-codes.ts';
import { ensureUser } from '../store/users.ts';
import type { ProvenPerson } from './admit-person.ts';
import { checkCode } from './email-code.ts';
import { openSession } from './open-session.ts';
import { requireSsoNow } from './require-sso.ts';

type Deps = Pick<Context, 'config' | 'log' | 'newEvent' | 'now' | 'databaseNow' | 'transaction'>;

type SignInAttempt = { email: string; code: string; requestId: string };

/**
 * Exchanges a code for a session, and creates user and workspace the first time. Throws CODE_INVALID for every fault
 * of the code, SSO_REQUIRED, and like `openSession`.
 */
export function signIn(context: Deps, attempt: SignInAttempt): Promise<SignedIn> {
  return proveAddress(context, attempt, async (tx, person) => {
    await requireSsoNow(tx, attempt);
    return openSession(tx, context, person);
  });
}

/**
 * Runs `act` for the proven person, in the transaction that uses up the code. Throws CODE_INVALID for every fault of
 * the code.
 */
export async function proveAddress<Result extends object>(
  context: Pick<Context, 'config' | 'log' | 'now' | 'transaction'>,
  attempt: SignInAttempt,
  act: (tx: Tx, person: ProvenPerson) => Promise<Result>,
): Promise<Result> {
  const result = await context.transaction(async (tx) => {
    const accepted = await spendTry(tx, context, attempt);
    // A refusal is returned and not thrown, since its failed attempt must be committed.
    if (accepted === null) return null;
    const { email, requestId } = attempt;
    const user = await ensureUser(tx, email, context.now());
    return act(tx, { user, knownAs: email, ...accepted, requestId });
  });
  if (result === null) throw new AppError('CODE_INVALID', 'The code is wrong or has expired. Request a new one');
  return result;
}

/** `null` when the code is refused. `inviteId`: the invite of the code. */
async function spendTry(
  tx: Tx,
  context: Pick<Context, 'config' | 'log' | 'now'>,
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
