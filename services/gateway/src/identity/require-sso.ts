import { AppError, domainOf } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Reader, Tx } from '../store/database.ts';
import { listRequiringRules, lockSignIns, type SignInRule } from '../store/sign-in-rules.ts';

type SignIn = {
  email: string;
  /** The connection of the identity provider that signed the person in. `undefined` for a code. */
  connectionId?: string | undefined;
};

/**
 * Throws SSO_REQUIRED when the organisation of the domain requires a different connection. The result depends on the
 * domain alone, so it does not reveal who has an account.
 */
export async function requireSso(reader: Reader, { email, connectionId }: SignIn): Promise<void> {
  for (const rule of await listRequiringRules(reader, domainOf(email)))
    if (rule.connectionId !== connectionId) throw ssoRequired(rule);
}

/** Throws SSO_REQUIRED like requireSso. The rule cannot change before the transaction ends. */
export async function requireSsoNow(tx: Tx, signIn: SignIn): Promise<void> {
  await lockSignIns(tx, domainOf(signIn.email), 'signs in');
  await requireSso(tx, signIn);
}

/**
 * Throws SSO_REQUIRED like requireSso. With a passkey, the break-glass person of the organisation may sign in. The rule
 * cannot change before the transaction ends.
 */
export async function requireSsoOf(tx: Tx, { id, email }: User, connectionId: string | null): Promise<void> {
  if (email === null) return;
  await lockSignIns(tx, domainOf(email), 'signs in');
  for (const rule of await listRequiringRules(tx, domainOf(email))) {
    const isBreakGlass = connectionId === null && rule.breakGlassUserId === id;
    if (rule.connectionId !== connectionId && !isBreakGlass) throw ssoRequired(rule);
  }
}

function ssoRequired({ connectionId }: SignInRule): AppError {
  return new AppError('SSO_REQUIRED', 'The organisation of this address requires single sign-on', {
    details: { connection_id: connectionId },
  });
}
