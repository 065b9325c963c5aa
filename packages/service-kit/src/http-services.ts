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

/** The members that every request of one http app shares. Made by createHttpApp, read by the pipeline. */
export type HttpServices = {
  readonly log: Log;
  readonly guards: Guards<unknown>;
  readonly cors: CorsOptions;
  readonly guardForeign: ForeignGuard;
  readonly classifiers: readonly ClassifyError[];
  /** Null: no limits (benches). */
  readonly rateLimiter: RateLimiter | null;
  /** Null: Idempotency-Key is read but not acted on by the pipeline. */
  readonly idempotency: IdempotencyStore | null;
  readonly measure: HttpMeasure | null;
  /** `null` when tracing is off; then no span is made. */
  readonly tracer: Tracer | null;
  readonly onFailed: ((call: FailedCall) => void) | null;
  /** Identifies a caller in limits and idempotency scopes; null for callers without identity. */
  readonly callerKey: (caller: unknown) => string | null;
  /** The caller that the gateway, which forwarded the request, cannot know. */
  readonly tellCaller: (principal: unknown) => ToldCaller | null;
  readonly trustedProxies: number;
  /** Query members that guards read on every route, so that strict query shapes need not know them. */
  readonly guardQuery: readonly string[];
  readonly checkReplies: boolean;
  /** Open event streams and sockets, which a drain ends. */
  readonly streams: Set<AbortController>;
};
