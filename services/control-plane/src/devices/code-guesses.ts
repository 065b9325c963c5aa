import { AppError } from '@countersign/contracts';
import { createRateLimiter, type ServiceConfig } from '@countersign/service-kit';

export type CodeGuesses = {
  /** Throws RATE_LIMITED when this address has tried too many codes. */
  admit(address: string): Promise<void>;
};

/** A network address may try as many codes a minute as it may attempt sign-ins. */
export function limitCodeGuesses({ rateLimits }: Pick<ServiceConfig, 'rateLimits'>): CodeGuesses {
  const limiter = rateLimits === null ? null : createRateLimiter({ classes: { guesses: rateLimits.auth } });
  return {
    admit: async (address) => {
      if (limiter === null) return;
      const { allowed, retryAfterSeconds } = await limiter.take(address, 'guesses');
      if (allowed) return;
      throw new AppError('RATE_LIMITED', 'Too many codes were sent from this network address. Try again later', {
        headers: { 'retry-after': String(retryAfterSeconds) },
      });
    },
  };
}
