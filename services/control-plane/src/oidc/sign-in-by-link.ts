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
 * Opens a session for a person who knows the code that was sent to the address of an identity. From then on the
 * identity signs this person in. Throws like signInByCode.
 */
export function signInByLink(
  context: Pick<Context, 'newEvent' | 'directory' | 'now' | 'transaction'>,
  { link, ...proof }: Answered,
  opener: Opener,
) {
  const { requestId } = opener;
  const record = (tx: Tx, userId: UserId) => linkIdentity(tx, context, { ...link, userId, requestId });
  const beside = { method: 'oidc', record, connectionId: link.connectionId } as const;
  return signInByCode(context, { ...proof, beside }, opener);
}

/** Throws CODE_INVALID when the identity is already linked. The first link stays. */
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
