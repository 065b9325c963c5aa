import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { ScimCaller } from '../provisioning/scim-caller.ts';
import { findLiveScimToken, recordTokenUse } from '../store/scim-tokens.ts';
import { hashOf } from './scim-tokens.ts';

/** How exact the time of the last use is. */
const useMs = 60_000;

/**
 * The organisation of a token (attacker-controlled). The token is found by its hash, so the time of the search reveals nothing about it. Throws
 * CREDENTIALS_INVALID, alike for tokens that are unknown, revoked and expired.
 */
export async function authenticateScim(
  { database, transaction, now }: Pick<Context, 'database' | 'transaction' | 'now'>,
  secret: string,
): Promise<ScimCaller> {
  const at = now();
  const token = await findLiveScimToken(database.reader, hashOf(secret), at);
  if (token === null)
    throw new AppError('CREDENTIALS_INVALID', 'The SCIM token is not valid. Create one in the identity settings.');
  const { id, orgId, lastUsedAt } = token;
  const before = new Date(at.getTime() - useMs);
  if (lastUsedAt === null || lastUsedAt < before)
    await transaction((tx) => recordTokenUse(tx, id, { now: at, before }));
  return { orgId, tokenId: id };
}
