/** Request limits for servers that are no services, such as a witness. This entry loads no framework and no telemetry. */
export { clientAddress } from './client-address.ts';
export { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
