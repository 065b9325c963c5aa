import { z } from 'zod';
import { unsupportedGrant } from '../oauth-grant.ts';
import { PersonRole } from '../person-assertion.ts';
import { defineRoute } from '../route.ts';
import { Instant, WorkspaceId } from '../scalars.ts';
import { authBodyBytesMax } from './login.ts';

/** The prefix of a program's access token. */
export const deviceTokenPrefix = 'csd_';

/**
 * The name that a program states for itself. It is ASCII, so no letter of another alphabet can imitate one on the
 * confirmation page.
 */
const ClientName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9 ._@/:()-]{0,99}$/, 'must be at most 100 letters, digits, blanks and . _ @ / : ( ) -');

/** The errors of RFC 6749 §5.2 and RFC 8628 §3.5, and those of the request pipeline of a service. */
export const OAuthError = z.strictObject({
  error: z.enum([
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'unsupported_grant_type',
    'authorization_pending',
    'slow_down',
    'access_denied',
    'expired_token',
    'temporarily_unavailable',
    'server_error',
  ]),
  error_description: z.string(),
});
export type OAuthError = z.infer<typeof OAuthError>;

export const beginDeviceLogin = defineRoute({
  operation: 'begin-device-login',
  summary:
    'Start the sign-in of a program (RFC 8628 §3.1). Returns a device code, and a user code that a person ' +
    'confirms in a browser.',
  method: 'POST',
  path: '/api/auth/device/code',
  auth: 'public',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'protocol' },
  media: 'oauth',
  bodyBytesMax: authBodyBytesMax,
  // Not strict, here and below: unknown parameters are ignored (RFC 6749 §3.1, §3.2).
  body: z.object({
    client_id: ClientName,
    /** The role that the program requests in the workspace. It gets at most the role of the person who confirms. */
    scope: PersonRole.default('member'),
    /** Absent: the person chooses one. */
    workspace_id: WorkspaceId.optional(),
  }),
  reply: z.strictObject({
    device_code: z.string(),
    user_code: z.string(),
    verification_uri: z.string(),
    verification_uri_complete: z.string(),
    /** How long the codes are valid, in seconds. */
    expires_in: z.int().min(1),
    interval: z.int().min(1),
  }),
});

const hasGrantType = (input: unknown) => typeof input === 'object' && input !== null && 'grant_type' in input;

export const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code';

export const DeviceTokens = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  /** How long the access token is valid, in seconds. */
  expires_in: z.int().min(1),
  refresh_token: z.string(),
  /** The role in the workspace that the token opens. */
  scope: PersonRole,
  workspace_id: WorkspaceId,
});
export type DeviceTokens = z.infer<typeof DeviceTokens>;

export const createDeviceToken = defineRoute({
  operation: 'create-device-token',
  summary: 'Issue tokens to a program that a person has confirmed (RFC 8628 §3.4), or refresh them (RFC 6749 §6).',
  method: 'POST',
  path: '/api/auth/device/token',
  auth: 'public',
  forward: {},
  idempotency: { exempt: 'protocol' },
  media: 'oauth',
  bodyBytesMax: authBodyBytesMax,
  body: z.discriminatedUnion(
    'grant_type',
    [
      z.object({
        grant_type: z.literal(deviceCodeGrant),
        device_code: z.string().min(1).max(256),
        client_id: ClientName,
      }),
      z.object({
        grant_type: z.literal('refresh_token'),
        refresh_token: z.string().min(1).max(256),
        client_id: ClientName,
      }),
    ],
    { error: ({ input }) => (hasGrantType(input) ? unsupportedGrant : undefined) },
  ),
  alsoStatus: [400],
  reply: z.union([DeviceTokens, OAuthError]),
});

/** The code as a person types it: eight letters, in any case, with or without the dash. */
const ofUserCode = z.strictObject({ user_code: z.string().min(1).max(32) });

export const DeviceLogin = z.strictObject({
  user_code: z.string(),
  /** The name that the program states for itself. */
  client: z.string(),
  /** The IP address of the program's request. */
  address: z.string(),
  /** `null` when the person chooses the workspace. */
  workspace_id: WorkspaceId.nullable(),
  /** The role that the program requests. */
  role: PersonRole,
  expires_at: Instant,
});
export type DeviceLogin = z.infer<typeof DeviceLogin>;

export const getDeviceLogin = defineRoute({
  operation: 'get-device-login',
  summary: 'Get the sign-in request of a program by its user code. Unknown, expired and answered codes return 404.',
  method: 'GET',
  path: '/api/auth/device/{user_code}',
  auth: 'session',
  forward: { limit: 'auth' },
  provenBy: 'browser_session',
  params: ofUserCode,
  reply: DeviceLogin,
  errors: ['NOT_FOUND', 'RATE_LIMITED'],
});

export const answerDeviceLogin = defineRoute({
  operation: 'answer-device-login',
  summary: "Allow or deny the sign-in of a program, to one workspace and with at most the person's own role there.",
  method: 'POST',
  path: '/api/auth/device/{user_code}/decide',
  auth: 'session',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'single_use' },
  needsPresence: true,
  provenBy: 'browser_session',
  bodyBytesMax: authBodyBytesMax,
  params: ofUserCode,
  body: z.discriminatedUnion('decision', [
    z.strictObject({
      decision: z.literal('approve'),
      workspace_id: WorkspaceId,
      /** Default: the value that the program requested. */
      role: PersonRole.optional(),
    }),
    z.strictObject({ decision: z.literal('deny') }),
  ]),
  reply: z.strictObject({
    decision: z.enum(['approve', 'deny']),
    client: z.string(),
    /** The workspace that the program can now use. `null` when the program was refused. */
    workspace_id: WorkspaceId.nullable(),
    role: PersonRole.nullable(),
  }),
  errors: ['NOT_FOUND', 'RATE_LIMITED', 'GATEWAY_UNAVAILABLE'],
});
