export { answer, prepared, takenOver, type Answer, type Prepared } from './answer.ts';
export {
  createAssertionSigner,
  readAssertionKey,
  type Asserted,
  type AssertedKey,
  type AssertedPerson,
  type PersonAudience,
  type AssertionSigner,
} from './assertion-signer.ts';
export { AssertionVerifier, type Proven } from './assertion-verifier.ts';
export { bearerToken } from './bearer-token.ts';
export { build } from './build.ts';
export { ClockGuard, type ClockGuardDeps } from './clock-guard.ts';
export { clockSkewMaxMs } from './clock-skew.ts';
export { cookieValue } from './cookie-value.ts';
export { clientAddress } from './client-address.ts';
export { ConfigError, readConfig, sound, type Environment } from './config.ts';
export { durationMs, flag, integer, list, optionalPort, port, secret, secretUrl, url } from './config-fields.ts';
export { describeVariables, type VariableDescription } from './describe-variables.ts';
export { docsEndpoint } from './docs-page.ts';
export { createHandle, handlePublic, type Endpoint, type Handle } from './endpoint.ts';
export { endpointsOf, type Operations } from './operations.ts';
export { errorAnswer, storeOutage } from './error-answer.ts';
export { sendLines } from './send-lines.ts';
export { type FailedCall } from './failed-call.ts';
export { openEventStream, type EventStream, type StreamEvent } from './event-stream.ts';
export { createForeignGuard } from './foreign-request.ts';
export { anonymous, type Guard, type GuardRequest, type Guards, type ParsedRequest } from './guard.ts';
export { frontPageEndpoint, openApiEndpoint } from './front-page.ts';
export { healthEndpoints, runChecks, type HealthCheck, type ProbeChecks } from './health.ts';
export { etag, ifMatchTags, requireMatch } from './if-match.ts';
export { repeat, type Repeated } from './repeat.ts';
export { html, type Html } from './html.ts';
export { createHttpApp, type HttpAppOptions } from './http-app.ts';
export {
  answerOnce,
  inFlight,
  type IdempotencyClaim,
  type IdempotencyStore,
  type IdempotencyVerdict,
  type StoredAnswer,
} from './idempotency.ts';
export { requirePresence } from './presence.ts';
export { jsonRpcError } from './json-rpc-error.ts';
export { oauthError } from './oauth-error.ts';
export { createLifecycle, type Lifecycle } from './lifecycle.ts';
export { listenConfigOf, listenVariables, type ListenConfig } from './listen-variables.ts';
export { createLogger, type Log, type LoggerOptions } from './logger.ts';
export { page, seeOther } from './page.ts';
export { problemText } from './problem-text.ts';
export { boundedBody, hasBody } from './read-body.ts';
export { readPublicKeys, type PublicKey } from './public-keys.ts';
export { createRateLimiter, limitClassDefaults, type RateLimiter } from './rate-limiter.ts';
export { runService } from './run-service.ts';
export { SessionWatch } from './session-watch.ts';
export { upgradeOf } from './upgrade.ts';
export { secretsEqual } from './secrets-equal.ts';
export { createServiceApp, type ServiceApp } from './service-app.ts';
export { runStandardService, startStandardService, type StartedService } from './start-standard-service.ts';
export { httpOptionsOf, serviceConfigOf, serviceVariables, type ServiceConfig } from './service-config.ts';
export {
  importedKey,
  isSignedToken,
  signedTokenFault,
  signedTokenHeader,
  signedTokenType,
  unprovenClaims,
  verifySignedToken,
} from './signed-token.ts';
export { serveHttp, type HttpServer, type ServeOptions } from './serve-http.ts';
export { shownAddress } from './telemetry/collector.ts';
export { secondsBounds } from './telemetry/http-measure.ts';
export { messageSpans } from './telemetry/message-spans.ts';
export { type Labels, type Meter } from './telemetry/meter.ts';
export { knownMembersOf, type KnownMembers } from './told-request/known-members.ts';
export { reportedParts } from './told-request/reported-parts.ts';
export { shapeOf } from './told-request/shape-of.ts';
export type { CollectorPatience } from './telemetry/collector-patience.ts';
export { openTelemetry, type Telemetry } from './telemetry/open-telemetry.ts';
export { type ToldSpan } from './telemetry/otlp-export.ts';
export { type LiveSpan, type SpanFields, type Tracer } from './telemetry/tracer.ts';
