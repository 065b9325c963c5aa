import { AppError, commercialAssertionTerms, keyAssertionTerms, keyOfPrincipal } from '@countersign/contracts';
import { isSignedToken, signedTokenType, type PersonAudience } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { findLiveApiKey, type StoredApiKey } from '../store/api-keys.ts';

export function isKeyDelegation(credential: string): boolean {
  return isSignedToken(credential) && signedTokenType(credential) === keyAssertionTerms.type;
}

/**
 * The live key on whose behalf a service calls, from a delegation (attacker-controlled) that this gateway issued for a
 * request of the key. The key is read again, so the delegation grants only the current rights. Throws
 * CREDENTIALS_INVALID.
 */
export async function keyOfDelegation(
  { keyDelegations, database, now }: Pick<Context, 'keyDelegations' | 'database' | 'now'>,
  text: string,
): Promise<{ key: StoredApiKey; service: PersonAudience }> {
  const { sub, azp } = await keyDelegations.verify(text);
  const id = keyOfPrincipal(sub);
  const key = id === null ? null : await findLiveApiKey(database.reader, { id }, now());
  if (key === null || azp === undefined)
    throw new AppError('CREDENTIALS_INVALID', 'The API key of this request has expired or was revoked');
  return { key, service: azp === commercialAssertionTerms.audience ? 'commercial-gateway' : 'control-plane' };
}
