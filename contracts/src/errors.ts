import { z } from 'zod';

export const ErrorType = z.enum([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'conflict_error',
  'rate_limit_error',
  'unavailable_error',
  'internal_error',
]);
export type ErrorType = z.infer<typeof ErrorType>;

type ErrorDefinition = { status: number; type: ErrorType; retryable: boolean; nextStep: string };

function define(status: number, type: ErrorType, nextStep: string, retryable = false): ErrorDefinition {
  return { status, type, retryable, nextStep };
}

/** The closed list of error codes. A reason for a verdict is not an error: see reason-codes.ts. */
export const errorCodes = {
  MALFORMED_JSON: define(400, 'invalid_request_error', 'Send one well-formed JSON value encoded as UTF-8.'),
  DUPLICATE_MEMBER: define(400, 'invalid_request_error', 'Send each member of an object once.'),
  LONE_SURROGATE: define(400, 'invalid_request_error', 'Send well-formed Unicode strings.'),
  NUMBER_OUT_OF_RANGE: define(
    400,
    'invalid_request_error',
    'Send finite numbers. Integers beyond 2^53-1, and fractions of more than 17 digits, travel as strings.',
  ),
  NESTING_TOO_DEEP: define(400, 'invalid_request_error', 'Flatten the value.'),
  INVALID_REQUEST: define(400, 'invalid_request_error', 'Correct the named member and send the request again.'),
  UNKNOWN_MEMBER: define(400, 'invalid_request_error', 'Remove the named member.'),
  RESERVED_CONTEXT_KEY: define(
    400,
    'invalid_request_error',
    'Authority comes from credentials; remove the named key from context.',
  ),
  CEILING_MISSING: define(
    400,
    'invalid_request_error',
    'Put the named ceiling into the bundle word for word, and no other rule whose id begins with ceiling.',
  ),
  WORKSPACE_CONTEXT_CONFLICT: define(400, 'invalid_request_error', 'Name one workspace only.'),
  CREDENTIALS_REQUIRED: define(
    401,
    'authentication_error',
    'Send Authorization: Bearer <token> or the key this route asks for.',
  ),
  CREDENTIALS_INVALID: define(401, 'authentication_error', 'Check or renew the credential.'),
  SIGNATURE_INVALID: define(
    401,
    'authentication_error',
    'Sign the unchanged body with the current secret, and send it within 5 minutes.',
  ),
  CODE_INVALID: define(401, 'authentication_error', 'Check the code, or request a new one.'),
  REAUTHENTICATION_REQUIRED: define(
    401,
    'authentication_error',
    'Prove again that it is you, by POST /api/auth/reauth/begin, and repeat the request.',
  ),
  TENANT_REQUIRED: define(403, 'permission_error', 'Name the tenant by X-Gov-Tenant-ID or tenant_id.'),
  PERMISSION_DENIED: define(403, 'permission_error', 'Ask someone with the needed role.'),
  MAY_NOT_DECIDE: define(403, 'permission_error', 'Have another person decide. details.reason states why you cannot.'),
  CSRF_TOKEN_INVALID: define(
    403,
    'permission_error',
    'Send the csrf_token of GET /api/session as X-CSRF-Token, from a page of this origin.',
  ),
  HOST_NOT_ALLOWED: define(
    403,
    'permission_error',
    'Use an address of the server, or have its operator name this host in GOV_ALLOWED_HOSTS.',
  ),
  ORIGIN_NOT_ALLOWED: define(
    403,
    'permission_error',
    'Call from a page of the server, or have its operator name this origin in GOV_ALLOWED_ORIGINS.',
  ),
  PASSKEY_REQUIRED: define(
    403,
    'permission_error',
    'Decide with an enrolled passkey: on the approval page, or by the ceremony.',
  ),
  PASSKEY_REFUSED: define(
    403,
    'permission_error',
    'Ask for a new challenge and sign it with an enrolled passkey of yours.',
  ),
  OIDC_REFUSED: define(
    403,
    'permission_error',
    'Begin to sign in again in this browser, or sign in by a code; if it goes on, ask who runs the identity provider.',
  ),
  POLICY_DENIED: define(403, 'permission_error', 'Read the reason code; change the call or ask for a policy change.'),
  APPROVAL_NEEDED: define(403, 'permission_error', 'Have the named approval decided, then repeat the same call.'),
  DECISION_REQUIRED: define(
    403,
    'permission_error',
    'Have the change decided, have it signed for that decision, and name the decision.',
  ),
  DECISION_REFUSED: define(403, 'permission_error', 'Have this very change allowed; nothing else is signed for.'),
  ENTITLEMENT_REQUIRED: define(
    403,
    'permission_error',
    'Choose a plan that includes it: details.upgrade names one, if there is one.',
  ),
  LIMIT_REACHED: define(
    403,
    'permission_error',
    'Remove what is not needed, or choose a larger plan. details state the limit and its use.',
  ),
  ROUTE_NOT_FOUND: define(404, 'not_found_error', 'Check the path against the published contract.'),
  NOT_FOUND: define(404, 'not_found_error', 'Check the identifier and the tenant or workspace.'),
  METHOD_NOT_ALLOWED: define(405, 'invalid_request_error', 'Use a method from the Allow header.'),
  END_PASSED: define(409, 'conflict_error', 'Send an end that is still to come, or none.'),
  ILLEGAL_TRANSITION: define(409, 'conflict_error', 'Read the current state; details list the allowed moves.'),
  IDEMPOTENCY_IN_FLIGHT: define(409, 'conflict_error', 'Wait for the first request with this key to end.', true),
  OUTCOME_UNCERTAIN: define(
    409,
    'conflict_error',
    'The call may have been made, and is not sent again: decide yourself, and use a new Idempotency-Key to repeat it.',
  ),
  GATE_NOT_PASSED: define(409, 'conflict_error', 'Do what details.missing names, then activate again.'),
  PLAN_STALE: define(409, 'conflict_error', 'Read details.further, draft the plan again and have that one approved.'),
  INTEGRITY_FAILED: define(
    409,
    'conflict_error',
    'Do not use it: have its operator restore the file and its signature, or sign what is meant.',
  ),
  LAST_OWNER: define(409, 'conflict_error', 'Make another member an owner first.'),
  DECISION_MISMATCH: define(409, 'conflict_error', 'Ask for exactly what was decided, or have this decided.'),
  DECISION_EXPIRED: define(
    409,
    'conflict_error',
    'Have the change decided again, under the policy that is active now.',
  ),
  DECISION_USED: define(
    409,
    'conflict_error',
    'Have the change decided again; this decision has signed another activation.',
  ),
  ALREADY_EXISTS: define(409, 'conflict_error', 'Choose another identifier or read the existing one.'),
  PRECONDITION_FAILED: define(412, 'conflict_error', 'Read the object again and send its current ETag.'),
  PAYLOAD_TOO_LARGE: define(413, 'invalid_request_error', 'Send a smaller body.'),
  UNSUPPORTED_MEDIA_TYPE: define(
    415,
    'invalid_request_error',
    'Send the content type that the contract names: application/json, or a form to a page.',
  ),
  IDEMPOTENCY_KEY_REUSED: define(422, 'invalid_request_error', 'Use a new Idempotency-Key for a different request.'),
  UPGRADE_REQUIRED: define(426, 'invalid_request_error', 'Open a WebSocket at this address (RFC 6455).'),
  PRECONDITION_REQUIRED: define(428, 'conflict_error', 'Send If-Match with the ETag you read.'),
  RATE_LIMITED: define(429, 'rate_limit_error', 'Wait for Retry-After seconds.', true),
  INTERNAL: define(500, 'internal_error', 'Report the request id.'),
  UPSTREAM_KEY_REFUSED: define(
    502,
    'unavailable_error',
    'Have an operator set GOV_UPSTREAM_API_KEY to a key that the model server accepts.',
  ),
  UPSTREAM_FAILED: define(502, 'unavailable_error', 'Check the upstream server, then try again.', true),
  PASSKEYS_UNAVAILABLE: define(
    503,
    'unavailable_error',
    'Set GOV_PUBLIC_URL to an https address with a host name, or to http://localhost with its port.',
  ),
  UPSTREAM_NOT_CONFIGURED: define(503, 'unavailable_error', 'Set GOV_UPSTREAM_URL to an OpenAI-compatible server.'),
  MESSENGER_NOT_CONFIGURED: define(
    503,
    'unavailable_error',
    'Set GOV_MESSENGER_BOT_TOKEN to the token of the bot whose web app signs people in.',
  ),
  STORE_UNAVAILABLE: define(503, 'unavailable_error', 'The database does not answer; try again later.', true),
  RECEIPT_STORE_UNAVAILABLE: define(
    503,
    'unavailable_error',
    'No receipt can be stored, so nothing was executed; try again later.',
    true,
  ),
  GOVERNANCE_UNAVAILABLE: define(
    503,
    'unavailable_error',
    'The kernel does not answer, so nothing was executed; try again later.',
    true,
  ),
  MEMBERS_OUTDATED: define(
    503,
    'unavailable_error',
    'The list of members of this workspace is on its way to the kernel; try again in a moment.',
    true,
  ),
  GATEWAY_UNAVAILABLE: define(
    503,
    'unavailable_error',
    'The gateway does not answer, so nothing was changed; try again later.',
    true,
  ),
  CONTROL_PLANE_UNAVAILABLE: define(
    503,
    'unavailable_error',
    'The control plane does not answer, so cookies cannot be checked; try again later.',
    true,
  ),
  COMMERCIAL_UNAVAILABLE: define(
    503,
    'unavailable_error',
    'The commercial gateway does not answer. Governed work goes on; try again later.',
    true,
  ),
  OIDC_UNAVAILABLE: define(
    503,
    'unavailable_error',
    'The identity provider does not answer: sign in by a code or a passkey, or try again later.',
    true,
  ),
  QUEUE_UNAVAILABLE: define(503, 'unavailable_error', 'The queue does not answer; try again later.', true),
  PAYMENT_PROVIDER_UNAVAILABLE: define(
    503,
    'unavailable_error',
    'The payment provider does not answer, so nothing was changed; try again later.',
    true,
  ),
  SHUTTING_DOWN: define(503, 'unavailable_error', 'The process is draining; try again on another replica.', true),
  MAIL_UNAVAILABLE: define(502, 'unavailable_error', 'Mail could not be sent; try again later.', true),
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorCodes;
export const ErrorCode = z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]); // keys of a non-empty constant

/** The one error body of all REST routes; its first four members are also OpenAI's. */
export const ErrorEnvelope = z.strictObject({
  error: z.strictObject({
    message: z.string(),
    type: ErrorType,
    code: z.string(),
    param: z.string().nullable(),
    reason_code: z.string().nullable().optional(),
    request_id: z.string(),
    retryable: z.boolean(),
    details: z.record(z.string(), z.json()).optional(),
  }),
});
export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>;

type AppErrorOptions = {
  /** The member at fault, as a dotted path. */
  param?: string;
  reasonCode?: string;
  /** Shown to the caller: only what the caller may know. */
  details?: Record<string, unknown>;
  /** Logged, never sent. */
  cause?: unknown;
  headers?: Record<string, string>;
};

/** The one class that carries an error code. Its message is safe to show; everything private goes into `cause`. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly reasonCode: string | null;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.param = options.param ?? null;
    this.reasonCode = options.reasonCode ?? null;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** Recognises an AppError across copies of this package: by code, never by class. */
export function isAppError(error: unknown): error is AppError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code in errorCodes &&
    'headers' in error
  );
}
