import type { Context } from '../context.ts';
import type { StoredDomain } from '../store/claimed-domains.ts';
import { challengeRecord } from './domain-challenge.ts';

/** The claims whose TXT record holds their challenge now. A domain whose DNS does not answer stays pending. */
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
    // A long record travels in pieces.
    return (await resolveTxt(name)).some((pieces) => pieces.join('') === value);
  } catch {
    return false;
  }
}
