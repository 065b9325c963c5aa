/**
 * Why a route that changes state accepts no Idempotency-Key. A route names one of these, and its OpenAPI operation
 * shows the reason.
 */
export const idempotencyExemptions = {
  reads: 'The request changes nothing.',
  repeatable: 'The same request leaves the same state.',
  precondition: 'The request names the state that it replaces, so it can apply only once.',
  named: 'The body names an event, and each named event counts once.',
  single_use: 'A code, token, challenge or signature of the request counts once.',
  challenge: 'Each request creates a separate login or challenge. It has no effect and expires.',
  secret: 'The answer contains a secret, and secrets are not stored.',
  protocol: 'The protocol defines how its requests are repeated (MCP, RFC 8628, RFC 6749, RFC 7644).',
  stream: 'The answer is a stream, and streams are not stored. A repeated request is a new run with its own decisions.',
  anonymous: 'The caller has no identity, so no answer can be stored for it.',
} as const;

type IdempotencyExemption = keyof typeof idempotencyExemptions;

type Exempt = { exempt: IdempotencyExemption };

/** `key`: the route accepts an Idempotency-Key. */
type Idempotency = 'key' | Exempt;

/** Each method with its idempotency. A route that may change state must declare how requests can be repeated. */
export type RepeatedMethod =
  | { method: 'GET'; idempotency?: never }
  | { method: 'POST'; idempotency: Idempotency }
  | { method: 'PUT' | 'PATCH' | 'DELETE'; idempotency: Exempt };
