export { answer, prepared, takenOver, type Prepared } from './answer.ts';
export { createAssertionSigner, readAssertionKey, type Asserted, type AssertionSigner } from './assertion-signer.ts';
export { AssertionVerifier, isAssertion, type ProvenAssertion } from './assertion-verifier.ts';
export { bearerToken } from './bearer-token.ts';
export { clientAddress } from './client-address.ts';
export { ConfigError, readConfig, type Environment } from './config.ts';
export { durationMs, flag, integer, list, port, secret, secretUrl, url } from './config-fields.ts';
export { describeVariables, type VariableDescription } from './describe-variables.ts';
export { createHandle, handlePublic, type Endpoint, type Handle } from './endpoint.ts';
export { errorAnswer, storeOutage } from './error-answer.ts';
export { sendLines } from './send-lines.ts';
export { openEventStream, type EventStream, type StreamEvent } from './event-stream.ts';
export { anonymous, type Guard, type GuardRequest, type Guards, type ParsedRequest } from './guard.ts';
export { frontPageEndpoint, openApiEndpoint } from './front-page.ts';
export { healthEndpoints, runChecks, type HealthCheck } from './health.ts';
export { repeat, type Repeated } from './repeat.ts';
export { html, type Html } from './html.ts';
export { createHttpApp, type HttpApp, type HttpAppOptions } from './http-app.ts';
export {
  answerOnce,
  inFlight,
  type IdempotencyClaim,
  type IdempotencyStore,
  type IdempotencyVerdict,
  type StoredAnswer,
} from './idempotency.ts';
export { createLifecycle, type Lifecycle } from './lifecycle.ts';
export { createLogger, type Log, type LoggerOptions } from './logger.ts';
export { createMetrics } from './metrics.ts';
export { page, seeOther } from './page.ts';
export { problemText } from './problem-text.ts';
export { createRateLimiter, limitClassDefaults, type RateLimiter } from './rate-limiter.ts';
export { runService } from './run-service.ts';
export { secretsEqual } from './secrets-equal.ts';
export { httpOptionsOf, serviceConfigOf, serviceVariables, type ServiceConfig } from './service-config.ts';
export { serveHttp, type HttpServer, type ServeOptions } from './serve-http.ts';
