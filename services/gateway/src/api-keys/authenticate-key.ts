import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { findLiveApiKey, recordUse, type StoredApiKey } from '../store/api-keys.ts';
import { apiKeyHash, looksLikeApiKey } from './secret.ts';

/** To a minute: a busy key costs one more write in it, and no more. */
const useKeptMs = 60_000;

/** The live key of a text. Throws CREDENTIALS_INVALID. */
export async function authenticateKey(context: Context, text: string): Promise<StoredApiKey> {
  const now = context.now();
  const { reader, transaction } = context.database;
  const key = looksLikeApiKey(text) ? await findLiveApiKey(reader, apiKeyHash(text), now) : null;
  if (key === null) throw new AppError('CREDENTIALS_INVALID', 'The API key is not valid');
  const before = new Date(now.getTime() - useKeptMs);
  if (key.lastUsedAt === null || key.lastUsedAt < before)
    await transaction((tx) => recordUse(tx, key.id, { now, before }));
  return key;
}
