export { answer, prepared, takenOver, type Answer, type Prepared } from './answer.ts';
export { bearerToken } from './bearer-token.ts';
export { clientAddress } from './client-address.ts';
export { ConfigError, readConfig, type Environment, type ReadConfigOptions } from './config.ts';
export { durationMs, flag, integer, list, port, secret, secretUrl, url } from './config-fields.ts';
export type { CorsOptions } from './cors.ts';
export {
  createHandle,
  handlePublic,
  type Endpoint,
  type EndpointOptions,
  type Handler,
  type HandlerInput,
  type HandlerResult,
} from './endpoint.ts';
export { errorAnswer, type ClassifyError, type ErrorAnswer } from './error-answer.ts';
export { openEventStream, type EventStream, type EventStreamOptions, type StreamEvent } from './event-stream.ts';
export { anonymous, type Guard, type GuardRequest, type Guards, type ParsedRequest } from './guard.ts';
export { healthEndpoints, healthRoutes, runChecks, type HealthCheck, type HealthReport } from './health.ts';
export { createHttpApp, type HttpApp, type HttpAppOptions } from './http-app.ts';
export {
  type IdempotencyClaim,
  type IdempotencyStore,
  type IdempotencyVerdict,
  type StoredAnswer,
} from './idempotency.ts';
export { createLifecycle, type Lifecycle } from './lifecycle.ts';
export { createLogger, type Log, type LogFields, type LoggerOptions, type LogLevel } from './logger.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { parseJsonBody } from './parse-json-body.ts';
export {
  createRateLimiter,
  limitClassDefaults,
  type LimitClass,
  type LimitVerdict,
  type RateLimiter,
  type RateLimiterOptions,
} from './rate-limiter.ts';
export { redact } from './redact.ts';
export { runService, type RunServiceOptions } from './run-service.ts';
export { secretsEqual } from './secrets-equal.ts';
export { serveHttp, type HttpServer, type ServeOptions } from './serve-http.ts';
export { validate } from './validate.ts';
