import type { Context } from '../context.ts';
import { invalidToken, type ScimCaller } from '../provisioning/scim-caller.ts';
import { findLiveScimToken, recordTokenUse } from '../store/scim-tokens.ts';
import { hashOf } from './scim-tokens.ts';

/** The time of the last use of a token is stored with this precision. */
const useMs = 60_000;

/**
 * Returns the organisation of a token (attacker-controlled). The token is looked up by its hash, so response times
 * reveal nothing about it. Throws the same CREDENTIALS_INVALID for unknown, revoked and expired tokens.
 */
export async function authenticateScim(
  { database, transaction, now }: Pick<Context, 'database' | 'transaction' | 'now'>,
  secret: string,
): Promise<ScimCaller> {
  const at = now();
  const token = await findLiveScimToken(database.reader, hashOf(secret), at);
  if (token === null) throw invalidToken();
  const { id, orgId, lastUsedAt } = token;
  const before = new Date(at.getTime() - useMs);
  if (lastUsedAt === null || lastUsedAt < before)
    await transaction((tx) => recordTokenUse(tx, id, { now: at, before }));
  return { orgId, tokenId: id };
}
