import type { Context } from '../context.ts';
import type { StoredDomain } from '../store/claimed-domains.ts';
import { challengeRecord } from './domain-challenge.ts';

/** Returns the claims whose TXT record contains their challenge. A domain whose DNS does not answer stays pending. */
export async function verifyDomains(
  { resolveTxt }: Pick<Context, 'resolveTxt'>,
  claims: readonly StoredDomain[],
): Promise<StoredDomain[]> {
  const found = await Promise.all(claims.map((claim) => isProven(resolveTxt, claim)));
  return claims.filter((_claim, index) => found[index] === true);
}

async function isProven(resolveTxt: Context['resolveTxt'], claim: StoredDomain): Promise<boolean> {
  const { name, value } = challengeRecord(claim);
  try {
    // DNS splits a long TXT record into pieces.
    return (await resolveTxt(name)).some((pieces) => pieces.join('') === value);
  } catch {
    return false;
  }
}
