import type { ToldCaller } from '@countersign/contracts';
import type { CorsOptions } from './cors.ts';
import type { ClassifyError } from './error-answer.ts';
import type { FailedCall } from './failed-call.ts';
import type { ForeignGuard } from './foreign-request.ts';
import type { Guards } from './guard.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { Log } from './logger.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { HttpMeasure } from './telemetry/http-measure.ts';
import type { Tracer } from './telemetry/tracer.ts';

/** The members that all requests of one http app share. Created by createHttpApp, read by the pipeline. */
export type HttpServices = {
  readonly log: Log;
  readonly guards: Guards<unknown>;
  readonly cors: CorsOptions;
  readonly guardForeign: ForeignGuard;
  readonly classifiers: readonly ClassifyError[];
  /** `null` when requests are not limited. */
  readonly rateLimiter: RateLimiter | null;
  /**
   * The store of idempotency keys. Without it (`null`), the pipeline reads the Idempotency-Key but does not apply it.
   */
  readonly idempotency: IdempotencyStore | null;
  readonly measure: HttpMeasure | null;
  /** `null` when tracing is off. No span is created then. */
  readonly tracer: Tracer | null;
  readonly onFailed: ((call: FailedCall) => void) | null;
  /** Identifies a caller in limits and idempotency scopes. `null` for callers without identity. */
  readonly callerKey: (caller: unknown) => string | null;
  /** Returns the caller of a forwarded request, for the gateway that forwarded it without knowing the caller. */
  readonly tellCaller: (principal: unknown) => ToldCaller | null;
  readonly trustedProxies: number;
  /** Query members that guards read on every route, so that strict query shapes need not know them. */
  readonly guardQuery: readonly string[];
  readonly checkReplies: boolean;
  /** Open event streams and sockets, which a drain ends. */
  readonly streams: Set<AbortController>;
};
