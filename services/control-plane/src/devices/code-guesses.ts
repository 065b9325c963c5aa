import { AppError } from '@countersign/contracts';
import { createRateLimiter, type ServiceConfig } from '@countersign/service-kit';

export type CodeGuesses = {
  /** Throws RATE_LIMITED when this address has tried too many codes. */
  admit(address: string): Promise<void>;
};

/** The same number of tries a minute as an address has to sign in. */
export function limitCodeGuesses({ rateLimits }: Pick<ServiceConfig, 'rateLimits'>): CodeGuesses {
  const limiter = rateLimits === null ? null : createRateLimiter({ classes: { guesses: rateLimits.auth } });
  return {
    admit: async (address) => {
      if (limiter === null) return;
      const { allowed, retryAfterSeconds } = await limiter.take(address, 'guesses');
      if (allowed) return;
      throw new AppError('RATE_LIMITED', 'Too many codes were tried from this address', {
        headers: { 'retry-after': String(retryAfterSeconds) },
      });
    },
  };
}
