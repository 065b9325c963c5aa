import { createHash, randomBytes } from 'node:crypto';
import { AppError, ScimTokenId, type UserId } from '@countersign/contracts';
import { identityLimits, type ScimTokenView } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { entitlementsOf } from '../entitlements/entitlements-of.ts';
import { newScimTokenId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import { lockIdentity } from '../store/identity-settings.ts';
import { insertScimToken, listLiveScimTokens, revokeToken } from '../store/scim-tokens.ts';
import { scimTokenView } from './settings-view.ts';

type TokenDeps = Pick<Context, 'transaction' | 'now' | 'entitlementTerms'>;

type TokenCaller = { orgId: OrgId; actor: UserId; requestId: string | null };

type NewToken = { name: string; expiresInDays: number };

const dayMs = 86_400_000;

/** Creates a token. Only its SHA-256 is stored. The secret has 256 random bits, so a slow hash is not needed. */
export function createToken(
  { transaction, now, entitlementTerms }: TokenDeps,
  { name, expiresInDays }: NewToken,
  { orgId, actor, requestId }: TokenCaller,
): Promise<{ token: ScimTokenView; secret: string }> {
  return transaction(async (tx) => {
    const at = now();
    await lockIdentity(tx, orgId, { actor, now: at });
    const { capabilities } = await entitlementsOf(tx, entitlementTerms, { orgId, now: at });
    if (!capabilities.includes('scim'))
      throw gate('The plan in force does not include SCIM. Change the plan', 'scim_capability');
    if ((await listLiveScimTokens(tx, orgId, at)).length >= identityLimits.liveScimTokens)
      throw gate(
        `The organisation has ${identityLimits.liveScimTokens} SCIM tokens, which is the limit. Revoke one first`,
        'free_scim_token',
      );
    const secret = `cst_${randomBytes(32).toString('base64url')}`;
    const expiresAt = new Date(at.getTime() + expiresInDays * dayMs);
    const token = {
      ...{ id: newScimTokenId(), orgId, name, secretHash: hashOf(secret) },
      ...{ createdBy: actor, createdAt: at, expiresAt, lastUsedAt: null },
    };
    await insertScimToken(tx, token);
    const details = { name, expires_at: expiresAt.toISOString() };
    const act = { scope: orgId, action: 'scim_token.created', actor, requestId, subject: token.id, details } as const;
    await recordAudit(tx, { ...act, verdict: 'allow' }, at);
    return { token: scimTokenView(token), secret };
  });
}

/**
 * Revokes a token. A repeated call changes nothing. Throws NOT_FOUND for an unknown token and for a token of another
 * organisation.
 */
export function revokeScimToken(
  { transaction, now }: Pick<TokenDeps, 'transaction' | 'now'>,
  tokenId: string,
  { orgId, actor, requestId }: TokenCaller,
): Promise<void> {
  const id = ScimTokenId.safeParse(tokenId);
  return transaction(async (tx) => {
    const at = now();
    await lockIdentity(tx, orgId, { actor, now: at });
    const outcome = id.success ? await revokeToken(tx, { orgId, id: id.data, now: at }) : 'unknown';
    if (outcome === 'unknown') throw new AppError('NOT_FOUND', 'The organisation has no SCIM token with this ID');
    if (outcome === 'revoked_before') return;
    const act = {
      scope: orgId,
      action: 'scim_token.revoked',
      actor,
      requestId,
      subject: tokenId,
      details: {},
    } as const;
    await recordAudit(tx, { ...act, verdict: 'allow' }, at);
  });
}

/** The hash that is stored in place of the secret. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function gate(message: string, missing: string): AppError {
  return new AppError('GATE_NOT_PASSED', message, { details: { missing: [missing] } });
}
