import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { findKeyEnd, findLiveApiKey, recordUse, type StoredApiKey } from '../store/api-keys.ts';
import { apiKeyHash, looksLikeApiKey } from './secret.ts';

/** To a minute: a busy key costs one more write in it, and no more. */
const useKeptMs = 60_000;

/** The live key of a text. Throws CREDENTIALS_INVALID. */
export async function authenticateKey(context: Context, text: string): Promise<StoredApiKey> {
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
async function endedKey({ database }: Context, keyHash: string): Promise<AppError> {
  const end = await findKeyEnd(database.reader, keyHash);
  if (end === null) return new AppError('CREDENTIALS_INVALID', 'The API key is not valid');
  if (end.revokedAt !== null)
    return new AppError('CREDENTIALS_INVALID', 'The API key was revoked. Make another one at the console');
  const expired = `The API key expired at ${end.expiresAt.toISOString()}. Make another one at the console`;
  return new AppError('CREDENTIALS_INVALID', expired);
}
