import { createHash } from 'node:crypto';
import { AppError } from '@countersign/contracts';
import { createRateLimiter, type ServiceConfig } from '@countersign/service-kit';

/** More credentials than an installation has agents. The least recently used one is forgotten first. */
const knownMax = 10_000;

/**
 * The credentials that the kernel has accepted. Only these count as a principal in rate limits. A caller with invented
 * credentials is limited by address, and does not use up the failures that the kernel permits this gateway.
 */
export type KnownCredentials = {
  /** The name of a known credential in limits; `null` for one that the kernel has not accepted yet. */
  nameOf(credential: string): string | null;
  /** Throws RATE_LIMITED when this address has tried too many unknown credentials. */
  admit(credential: string, address: string): Promise<void>;
  /** Records whether the kernel accepted the credential. */
  learn(credential: string, isTaken: boolean): void;
};

export function createKnownCredentials({ rateLimits }: Pick<ServiceConfig, 'rateLimits'>): KnownCredentials {
  const existing = new Set<string>();
  const limiter = rateLimits === null ? null : createRateLimiter({ classes: { unproven: rateLimits.auth } });
  const nameOf = (credential: string) => {
    const name = `agent ${createHash('sha256').update(credential).digest('hex')}`;
    return existing.has(name) ? name : null;
  };
  return {
    nameOf,
    admit: async (credential, address) => {
      if (limiter === null || nameOf(credential) !== null) return;
      const { allowed, headers } = await limiter.take(address, 'unproven');
      if (allowed) return;
      const { 'retry-after': wait = '1' } = headers;
      throw new AppError(
        'RATE_LIMITED',
        'Too many requests with unknown credentials were sent from this address. Check the credential, and try again later',
        {
          headers: { 'retry-after': wait },
        },
      );
    },
    learn: (credential, isTaken) => {
      const name = `agent ${createHash('sha256').update(credential).digest('hex')}`;
      existing.delete(name);
      if (!isTaken) return;
      existing.add(name);
      const [oldest] = existing;
      if (existing.size > knownMax && oldest !== undefined) existing.delete(oldest);
    },
  };
}
