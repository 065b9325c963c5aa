import { z } from 'zod';
import { defineRoute } from '../route.ts';

/** The name that the operator chose. It is part of the callback address at the provider. */
export const OidcConnectionId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'may hold lower-case letters, digits and -');

export const listOidcConnections = defineRoute({
  operation: 'list-oidc-connections',
  summary: 'List the identity providers for sign-in, with the names that the operator chose.',
  method: 'GET',
  path: '/api/auth/oidc',
  auth: 'public',
  forward: {},
  reply: z.strictObject({ data: z.array(z.strictObject({ connection_id: OidcConnectionId, name: z.string() })) }),
});

export const finishOidcLogin = defineRoute({
  operation: 'finish-oidc-login',
  summary:
    'Finish a sign-in at an identity provider, and redirect to the console. If the identity is not linked yet, ' +
    'the console asks for a code.',
  method: 'GET',
  path: '/api/auth/oidc/{connection_id}/callback',
  auth: 'public',
  forward: { limit: 'auth' },
  takesCookies: true,
  media: 'html',
  status: 303,
  /** Accepts any text, so that an impossible connection gets the same answer as an unknown one. */
  params: z.strictObject({ connection_id: z.string().min(1).max(128) }),
  /** The whole answer of the provider. Providers send more than the standard parameters. */
  query: z.looseObject({ state: z.string().max(128).optional() }),
  reply: z.string(),
  errors: ['NOT_FOUND', 'OIDC_REFUSED', 'OIDC_UNAVAILABLE', 'SSO_REQUIRED', 'GATEWAY_UNAVAILABLE', 'RATE_LIMITED'],
});
