import { z } from 'zod';
import type { ErrorType } from './error-type.ts';

/** `says`: what happened, as a heading for people. `nextStep`: what to do now. */
type ErrorDefinition = { status: number; type: ErrorType; retryable: boolean; says: string; nextStep: string };

function define(status: number, type: ErrorType, says: string, nextStep: string, retryable = false): ErrorDefinition {
  return { status, type, retryable, says, nextStep };
}

/** A service or a part that does not answer at the moment. */
function unavailable(says: string, nextStep: string): ErrorDefinition {
  return define(503, 'unavailable_error', says, nextStep, true);
}

/** The closed list of error codes, with their texts for people. Reasons of verdicts are in reason-codes.ts. */
export const errorCodes = {
  MALFORMED_JSON: define(
    400,
    'invalid_request_error',
    'The request is not valid JSON',
    'Send one well-formed JSON value encoded as UTF-8.',
  ),
  DUPLICATE_MEMBER: define(
    400,
    'invalid_request_error',
    'A member occurs twice',
    'Send each member of an object once.',
  ),
  LONE_SURROGATE: define(400, 'invalid_request_error', 'A string is malformed', 'Send well-formed Unicode strings.'),
  NUMBER_OUT_OF_RANGE: define(
    400,
    'invalid_request_error',
    'A number is too large or too precise',
    'Send finite numbers. Send integers beyond 2^53-1 and fractions of more than 17 digits as strings.',
  ),
  NESTING_TOO_DEEP: define(400, 'invalid_request_error', 'The request is nested too deeply', 'Flatten the value.'),
  INVALID_REQUEST: define(
    400,
    'invalid_request_error',
    'The request has a wrong value',
    'Correct the named member and send the request again.',
  ),
  UNKNOWN_MEMBER: define(400, 'invalid_request_error', 'The request has an unknown member', 'Remove the named member.'),
  RESERVED_CONTEXT_KEY: define(
    400,
    'invalid_request_error',
    'The context has a reserved key',
    'Remove the named key from context. Authority comes from credentials.',
  ),
  CEILING_MISSING: define(
    400,
    'invalid_request_error',
    'A required ceiling is missing',
    'Copy the named ceiling into the bundle unchanged. Remove any other rule with an id `ceiling.*`.',
  ),
  WORKSPACE_CONTEXT_CONFLICT: define(
    400,
    'invalid_request_error',
    'Two workspaces are named',
    'Name one workspace only.',
  ),
  CREDENTIALS_REQUIRED: define(
    401,
    'authentication_error',
    'Sign in first',
    'Send Authorization: Bearer <token>, or the key that this route requires.',
  ),
  CREDENTIALS_INVALID: define(
    401,
    'authentication_error',
    'The sign-in or key is not valid',
    'Check or renew the credential.',
  ),
  SIGNATURE_INVALID: define(
    401,
    'authentication_error',
    'The signature is wrong',
    'Sign the unchanged body with the current secret, and send it within 5 minutes.',
  ),
  CODE_INVALID: define(
    401,
    'authentication_error',
    'The code is wrong or has expired',
    'Check the code, or request a new one.',
  ),
  REAUTHENTICATION_REQUIRED: define(
    401,
    'authentication_error',
    'Prove again that it is you',
    'Prove again that it is you, by POST /api/auth/reauth/begin, and repeat the request.',
  ),
  TENANT_REQUIRED: define(
    403,
    'permission_error',
    'No tenant is named',
    'Name the tenant by X-Gov-Tenant-ID or tenant_id.',
  ),
  PERMISSION_DENIED: define(403, 'permission_error', 'You may not do this', 'Ask someone with the needed role.'),
  MAY_NOT_DECIDE: define(
    403,
    'permission_error',
    'You may not decide this',
    'Have another person decide. details.reason states why you cannot.',
  ),
  CSRF_TOKEN_INVALID: define(
    403,
    'permission_error',
    'The token of the page is wrong',
    'Send the csrf_token of GET /api/session as X-CSRF-Token, from a page of this origin.',
  ),
  HOST_NOT_ALLOWED: define(
    403,
    'permission_error',
    'The server does not accept this host name',
    'Use an address of the server, or have its operator name this host in GOV_ALLOWED_HOSTS.',
  ),
  ORIGIN_NOT_ALLOWED: define(
    403,
    'permission_error',
    'Another site may not call this server',
    'Call from a page of the server, or have its operator name this origin in GOV_ALLOWED_ORIGINS.',
  ),
  PASSKEY_REQUIRED: define(
    403,
    'permission_error',
    'This needs a passkey',
    'Decide with an enrolled passkey: on the approval page, or by the ceremony.',
  ),
  PASSKEY_REFUSED: define(
    403,
    'permission_error',
    'The passkey was not accepted',
    'Ask for a new challenge and sign it with an enrolled passkey of yours.',
  ),
  SSO_REQUIRED: define(
    403,
    'permission_error',
    'Single sign-on is required',
    'Sign in through the identity provider of your organisation. details.connection_id names the connection.',
  ),
  OIDC_REFUSED: define(
    403,
    'permission_error',
    'The identity provider refused',
    'Sign in again in this browser, or with a code. If it fails again, ask the operator of the identity provider.',
  ),
  POLICY_DENIED: define(
    403,
    'permission_error',
    'The policy denies this',
    'Read the reason code; change the call or ask for a policy change.',
  ),
  APPROVAL_NEEDED: define(
    403,
    'permission_error',
    'A person has to approve this first',
    'Have the named approval decided, then repeat the same call.',
  ),
  DECISION_REQUIRED: define(
    403,
    'permission_error',
    'This change needs a decision',
    'Have the change decided and signed for that decision, and send its decision_id with the change.',
  ),
  DECISION_REFUSED: define(
    403,
    'permission_error',
    'The change was not allowed',
    'Have exactly this change allowed. The decision covers no other change.',
  ),
  ENTITLEMENT_REQUIRED: define(
    403,
    'permission_error',
    'Your plan does not include this',
    'Choose a plan that includes it: details.upgrade names one, if there is one.',
  ),
  LIMIT_REACHED: define(
    403,
    'permission_error',
    'A limit of your plan is reached',
    'Remove what is not needed, or choose a larger plan. details state the limit and its use.',
  ),
  ROUTE_NOT_FOUND: define(
    404,
    'not_found_error',
    'The server does not know this address',
    'Check the path against the published contract.',
  ),
  NOT_FOUND: define(404, 'not_found_error', 'Not found here', 'Check the identifier and the tenant or workspace.'),
  METHOD_NOT_ALLOWED: define(
    405,
    'invalid_request_error',
    'The address does not accept this method',
    'Use a method from the Allow header.',
  ),
  END_PASSED: define(409, 'conflict_error', 'The end is in the past', 'Send an end in the future, or none.'),
  ILLEGAL_TRANSITION: define(
    409,
    'conflict_error',
    'Its state does not allow this',
    'Read the current state; details list the allowed moves.',
  ),
  IDEMPOTENCY_IN_FLIGHT: define(
    409,
    'conflict_error',
    'The same request is in flight',
    'Wait for the first request with this key to end.',
    true,
  ),
  OUTCOME_UNCERTAIN: define(
    409,
    'conflict_error',
    'The result is unknown',
    'The call may have been made, and is not sent again. Use a new Idempotency-Key to repeat it.',
  ),
  GATE_NOT_PASSED: define(
    409,
    'conflict_error',
    'An earlier step is missing',
    'Do what details.missing names, then activate again.',
  ),
  PLAN_STALE: define(
    409,
    'conflict_error',
    'The plan is out of date',
    'Read details.further, draft the plan again, and have the new plan approved.',
  ),
  INTEGRITY_FAILED: define(
    409,
    'conflict_error',
    'The content differs from what was signed',
    'Do not use it. Have its operator restore the file and its signature, or sign the intended content.',
  ),
  LAST_OWNER: define(409, 'conflict_error', 'A workspace needs an owner', 'Make another member an owner first.'),
  DECISION_MISMATCH: define(
    409,
    'conflict_error',
    'The decision is about another change',
    'Request exactly the change that was decided, or have this change decided.',
  ),
  DECISION_EXPIRED: define(
    409,
    'conflict_error',
    'The decision has expired',
    'Have the change decided again, under the policy that is active now.',
  ),
  DECISION_USED: define(
    409,
    'conflict_error',
    'The decision was used already',
    'Have the change decided again; this decision has signed another activation.',
  ),
  ALREADY_EXISTS: define(
    409,
    'conflict_error',
    'It exists already',
    'Choose another identifier or read the existing one.',
  ),
  PRECONDITION_FAILED: define(
    412,
    'conflict_error',
    'It changed in the meantime',
    'Read the object again and send its current ETag.',
  ),
  PAYLOAD_TOO_LARGE: define(413, 'invalid_request_error', 'The request is too large', 'Send a smaller body.'),
  UNSUPPORTED_MEDIA_TYPE: define(
    415,
    'invalid_request_error',
    'The content type is wrong',
    'Send the content type that the contract names: application/json, or a form to a page.',
  ),
  IDEMPOTENCY_KEY_REUSED: define(
    422,
    'invalid_request_error',
    'The key belongs to another request',
    'Use a new Idempotency-Key for a different request.',
  ),
  UPGRADE_REQUIRED: define(
    426,
    'invalid_request_error',
    'This address accepts only WebSockets',
    'Open a WebSocket at this address (RFC 6455).',
  ),
  PRECONDITION_REQUIRED: define(
    428,
    'conflict_error',
    'The version is not named',
    'Send If-Match with the ETag you read.',
  ),
  RATE_LIMITED: define(429, 'rate_limit_error', 'Too many requests', 'Wait for Retry-After seconds.', true),
  INTERNAL: define(500, 'internal_error', 'The service failed', 'Report the request id.'),
  UPSTREAM_KEY_REFUSED: define(
    502,
    'unavailable_error',
    'The model server refused the key',
    'Have an operator set GOV_UPSTREAM_API_KEY to a key that the model server accepts.',
  ),
  UPSTREAM_FAILED: define(
    502,
    'unavailable_error',
    'The upstream server failed',
    'Check the upstream server, then try again.',
    true,
  ),
  PASSKEYS_UNAVAILABLE: define(
    503,
    'unavailable_error',
    'This address cannot use passkeys',
    'Set GOV_PUBLIC_URL to an https address with a host name, or to http://localhost with its port.',
  ),
  UPSTREAM_NOT_CONFIGURED: define(
    503,
    'unavailable_error',
    'No model server is set',
    'Set GOV_UPSTREAM_URL to an OpenAI-compatible server.',
  ),
  MESSENGER_NOT_CONFIGURED: define(
    503,
    'unavailable_error',
    'No messenger is set',
    'Set GOV_MESSENGER_BOT_TOKEN to the token of the bot whose web app signs people in.',
  ),
  STORE_UNAVAILABLE: unavailable('The database does not answer', 'The database does not answer; try again later.'),
  RECEIPT_STORE_UNAVAILABLE: unavailable(
    'No receipt can be stored',
    'No receipt can be stored, so nothing was executed; try again later.',
  ),
  GOVERNANCE_UNAVAILABLE: unavailable(
    'The kernel does not answer',
    'The kernel does not answer, so nothing was executed; try again later.',
  ),
  MEMBERS_OUTDATED: unavailable(
    'The list of members is out of date',
    'The list of members of this workspace is on its way to the kernel; try again in a moment.',
  ),
  GATEWAY_UNAVAILABLE: unavailable(
    'The gateway does not answer',
    'The gateway does not answer, so nothing was changed; try again later.',
  ),
  CONTROL_PLANE_UNAVAILABLE: unavailable(
    'The control plane does not answer',
    'The control plane does not answer, so cookies cannot be checked; try again later.',
  ),
  COMMERCIAL_UNAVAILABLE: unavailable(
    'The commercial gateway does not answer',
    'The commercial gateway does not answer. Governed work goes on; try again later.',
  ),
  OIDC_UNAVAILABLE: unavailable(
    'The identity provider does not answer',
    'The identity provider does not answer: sign in by a code or a passkey, or try again later.',
  ),
  QUEUE_UNAVAILABLE: unavailable('The queue does not answer', 'The queue does not answer; try again later.'),
  PAYMENT_PROVIDER_UNAVAILABLE: unavailable(
    'The payment provider does not answer',
    'The payment provider does not answer, so nothing was changed; try again later.',
  ),
  SHUTTING_DOWN: unavailable('The service is restarting', 'The process is draining; try again on another replica.'),
  MAIL_UNAVAILABLE: define(
    502,
    'unavailable_error',
    'Mail could not be sent',
    'Mail could not be sent; try again later.',
    true,
  ),
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorCodes;
export const ErrorCode = z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]); // keys of a non-empty constant
