import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { findKeyEnd, findLiveApiKey, recordUse, type StoredApiKey } from '../store/api-keys.ts';
import { apiKeyHash, looksLikeApiKey } from './secret.ts';

/** The time of last use is stored at most once a minute, so a busy key costs one more write per minute. */
const useKeptMs = 60_000;

/** Finds the active key for a text (attacker-controlled). Throws CREDENTIALS_INVALID. */
export async function authenticateKey(context: Pick<Context, 'database' | 'now'>, text: string): Promise<StoredApiKey> {
  const now = context.now();
  const { reader, transaction } = context.database;
  if (!looksLikeApiKey(text)) throw new AppError('CREDENTIALS_INVALID', 'The API key is not valid');
  const keyHash = apiKeyHash(text);
  const key = await findLiveApiKey(reader, { keyHash }, now);
  if (key === null) throw await endedKey(context, keyHash);
  const before = new Date(now.getTime() - useKeptMs);
  if (key.lastUsedAt === null || key.lastUsedAt < before)
    await transaction((tx) => recordUse(tx, key.id, { now, before }));
  return key;
}

/** The caller knows the secret, so the answer may state how the key ended. */
async function endedKey({ database }: Pick<Context, 'database'>, keyHash: string): Promise<AppError> {
  const end = await findKeyEnd(database.reader, keyHash);
  if (end === null) return new AppError('CREDENTIALS_INVALID', 'The API key is not valid');
  if (end.revokedAt !== null)
    return new AppError('CREDENTIALS_INVALID', 'The API key was revoked. Create a new one in the console');
  const expired = `The API key expired at ${end.expiresAt.toISOString()}. Create a new one in the console`;
  return new AppError('CREDENTIALS_INVALID', expired);
}
