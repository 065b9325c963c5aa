import type { UserId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { codeInvalid } from '../sessions/code-invalid.ts';
import type { Opener } from '../sessions/open-session.ts';
import { signInByCode } from '../sessions/sign-in-by-code.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { insertProviderIdentity } from '../store/provider-identities.ts';

type Link = { issuer: string; subject: string; connectionId: string };
type Answered = { idHash: string; email: string; code: string; link: Link };

/**
 * A session for a person who knows the code that was sent to the address of an identity. The identity signs this person
 * in from then on. Throws as signInByCode.
 */
export function signInByLink(context: Context, { link, ...proof }: Answered, opener: Opener) {
  const { requestId } = opener;
  const record = (tx: Tx, userId: UserId) => linkIdentity(tx, context, { ...link, userId, requestId });
  return signInByCode(context, { ...proof, beside: { method: 'oidc', record } }, opener);
}

/** Throws CODE_INVALID when it is linked to another person by now: the first link stays. */
async function linkIdentity(
  tx: Tx,
  { now }: Pick<Context, 'now'>,
  { issuer, subject, connectionId, userId, requestId }: Link & { userId: UserId; requestId: string },
): Promise<void> {
  const linkedAt = now();
  if (!(await insertProviderIdentity(tx, { issuer, subject, userId, connectionId, linkedAt }))) throw codeInvalid();
  const act = { action: 'provider_identity.linked', actor: userId, verdict: 'allow', requestId } as const;
  await recordAudit(tx, { ...act, scope: userId, subject: connectionId, details: { issuer, subject } }, linkedAt);
}
