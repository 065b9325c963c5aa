/** Why a route that changes state takes no Idempotency-Key. A route names one of these, and its OpenAPI operation shows the reason. */
export const idempotencyExemptions = {
  reads: 'The request changes nothing.',
  repeatable: 'The same request leaves the same state.',
  precondition: 'The request names the state that it replaces, so it applies once.',
  named: 'The body names an event, and an event of one name counts once.',
  single_use: 'A code, token, challenge or signature of the request counts once.',
  challenge: 'Each answer is a login or challenge of its own. It has no effect and expires.',
  secret: 'The answer contains a secret, and secrets are not stored.',
  protocol: 'The protocol defines how its requests are repeated (MCP, RFC 8628, RFC 6749, RFC 7644).',
  stream: 'The answer is a stream, and streams are not stored. A repeated request is a new run with its own decisions.',
  anonymous: 'The caller has no identity that an answer could be kept for.',
} as const;

type IdempotencyExemption = keyof typeof idempotencyExemptions;

type Exempt = { exempt: IdempotencyExemption };

/** `key`: the route takes an Idempotency-Key. */
type Idempotency = 'key' | Exempt;

/** Each method with what its routes state: a route that may change state states how it is repeated. */
export type RepeatedMethod =
  | { method: 'GET'; idempotency?: never }
  | { method: 'POST'; idempotency: Idempotency }
  | { method: 'PUT' | 'PATCH' | 'DELETE'; idempotency: Exempt };
