import { createHash } from 'node:crypto';
import { AppError } from '@countersign/contracts';
import { createRateLimiter, type ServiceConfig } from '@countersign/service-kit';

/** More than an installation has agents; the oldest is forgotten first, and proves itself once more. */
const knownMax = 10_000;

/**
 * Which credentials of its own the kernel has taken. Only those count as a principal in limits. A caller that invents
 * credentials is limited by address, and does not use up the failures that the kernel allows this gateway.
 */
export type KnownCredentials = {
  /** The name of a known credential in limits; `null` for one that the kernel has not accepted yet. */
  nameOf(credential: string): string | null;
  /** Throws RATE_LIMITED when this address has tried too many that are not known. */
  admit(credential: string, address: string): Promise<void>;
  /** Records whether the kernel accepted it. */
  learn(credential: string, isTaken: boolean): void;
};

export function createKnownCredentials({ rateLimits }: Pick<ServiceConfig, 'rateLimits'>): KnownCredentials {
  const known = new Set<string>();
  const limiter = rateLimits === null ? null : createRateLimiter({ classes: { unproven: rateLimits.auth } });
  const nameOf = (credential: string) => {
    const name = `agent ${createHash('sha256').update(credential).digest('hex')}`;
    return known.has(name) ? name : null;
  };
  return {
    nameOf,
    admit: async (credential, address) => {
      if (limiter === null || nameOf(credential) !== null) return;
      const { allowed, headers } = await limiter.take(address, 'unproven');
      if (allowed) return;
      const { 'retry-after': wait = '1' } = headers;
      throw new AppError('RATE_LIMITED', 'Too many credentials that are not known', {
        headers: { 'retry-after': wait },
      });
    },
    learn: (credential, isTaken) => {
      const name = `agent ${createHash('sha256').update(credential).digest('hex')}`;
      known.delete(name);
      if (!isTaken) return;
      known.add(name);
      const [oldest] = known;
      if (known.size > knownMax && oldest !== undefined) known.delete(oldest);
    },
  };
}
