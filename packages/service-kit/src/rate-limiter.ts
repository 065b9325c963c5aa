/**
 * `limit` requests per `windowMs`, which may all come at once. `failClosed`: requests are refused when the limiter
 * itself does not answer.
 */
export type LimitClass = { limit: number; windowMs: number; failClosed?: boolean };

/**
 * The default limits. `standard`: per principal, more than a busy agent needs. `public`: per address, enough for an
 * office behind one address. `auth`: per address, slow enough that guessing a six-digit code is hopeless. `demo`: per
 * address, as fast as a person clicks. `page`: per address, more than any person opens. `verify`: per address, few,
 * since each request may cost a second of work. `webhook`: per address, a burst of events from the few addresses of a
 * provider.
 */
export const limitClassDefaults = {
  standard: { limit: 6_000, windowMs: 60_000 },
  public: { limit: 600, windowMs: 60_000 },
  demo: { limit: 60, windowMs: 60_000 },
  page: { limit: 120, windowMs: 60_000 },
  verify: { limit: 20, windowMs: 60_000 },
  webhook: { limit: 1_200, windowMs: 60_000 },
  auth: { limit: 20, windowMs: 60_000, failClosed: true },
} as const satisfies Record<string, LimitClass>;

type LimitVerdict = {
  allowed: boolean;
  /**
   * RateLimit and RateLimit-Policy of draft-ietf-httpapi-ratelimit-headers-11, and Retry-After in seconds when refused.
   */
  headers: Readonly<Record<string, string>>;
  retryAfterSeconds: number;
};

export type RateLimiter = {
  take(key: string, className: string): LimitVerdict | Promise<LimitVerdict>;
  classOf(className: string): LimitClass | undefined;
};

type Bucket = { tokens: number; filledAtMs: number };

type RateLimiterOptions = {
  classes?: Readonly<Record<string, LimitClass>>;
  now?: () => number;
  /**
   * The maximum number of buckets. Above it, the least recently used bucket is evicted, so that invented keys cannot
   * fill the memory.
   */
  keysMax?: number;
};

/** One token bucket per class and key, in memory. Each process counts separately. */
export function createRateLimiter(options: RateLimiterOptions = {}): RateLimiter {
  const classes: Readonly<Record<string, LimitClass>> = { ...limitClassDefaults, ...options.classes };
  const now = options.now ?? (() => performance.now());
  const keysMax = options.keysMax ?? 100_000;
  const buckets = new Map<string, Bucket>();

  const take = (key: string, className: string): LimitVerdict => {
    const limits = classes[className];
    if (limits === undefined) throw new Error(`There is no limit class ${className}`);
    const name = `${className} ${key}`;
    const bucket = refill(buckets.get(name), limits, now());
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    // Deleting first moves the key to the end, since the order of the Map is the order of last use.
    buckets.delete(name);
    buckets.set(name, bucket);
    if (buckets.size > keysMax) forgetOldest(buckets);
    return verdictOf(className, limits, bucket, allowed);
  };
  return { take, classOf: (className) => classes[className] };
}

function refill(bucket: Bucket | undefined, { limit, windowMs }: LimitClass, nowMs: number): Bucket {
  if (bucket === undefined) return { tokens: limit, filledAtMs: nowMs };
  const gained = (Math.max(0, nowMs - bucket.filledAtMs) * limit) / windowMs;
  bucket.tokens = Math.min(limit, bucket.tokens + gained);
  bucket.filledAtMs = nowMs;
  return bucket;
}

function forgetOldest(buckets: Map<string, Bucket>): void {
  for (const name of buckets.keys()) {
    buckets.delete(name);
    return;
  }
}

function verdictOf(className: string, limits: LimitClass, bucket: Bucket, allowed: boolean): LimitVerdict {
  const msPerToken = limits.windowMs / limits.limit;
  const resetSeconds = Math.ceil(((limits.limit - bucket.tokens) * msPerToken) / 1_000);
  const retryAfterSeconds = allowed ? 0 : Math.max(1, Math.ceil(((1 - bucket.tokens) * msPerToken) / 1_000));
  return {
    allowed,
    retryAfterSeconds,
    headers: {
      ratelimit: `"${className}";r=${Math.floor(bucket.tokens)};t=${resetSeconds}`,
      'ratelimit-policy': `"${className}";q=${limits.limit};w=${Math.ceil(limits.windowMs / 1_000)}`,
      ...(allowed ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
  };
}
