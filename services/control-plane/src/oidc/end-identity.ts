import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import { removeIdentity, type StoredIdentity } from '../store/provider-identities.ts';

/**
 * Ends a link to a provider. The identity no longer signs this person in, until a code links it again. Sessions stay.
 */
export async function endIdentity(
  context: Pick<Context, 'now' | 'transaction'>,
  identity: StoredIdentity,
  requestId: string,
): Promise<void> {
  const { userId, connectionId, issuer, subject } = identity;
  await context.transaction(async (tx) => {
    if (!(await removeIdentity(tx, identity))) return;
    const act = { action: 'provider_identity.unlinked', actor: userId, verdict: 'allow', requestId } as const;
    const entry = { ...act, scope: userId, subject: connectionId, details: { issuer, subject } };
    await recordAudit(tx, entry, context.now());
  });
}
