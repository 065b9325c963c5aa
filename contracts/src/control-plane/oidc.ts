import { z } from 'zod';
import { defineRoute } from '../route.ts';

/** The operator's name for it. It is part of the address to which the provider sends browsers back. */
export const OidcConnectionId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'may hold lower-case letters, digits and -');

export const listOidcConnections = defineRoute({
  operation: 'list-oidc-connections',
  summary: 'The identity providers that sign people in here, by the names that their operator gave them.',
  method: 'GET',
  path: '/api/auth/oidc',
  auth: 'public',
  forward: {},
  reply: z.strictObject({ data: z.array(z.strictObject({ connection_id: OidcConnectionId, name: z.string() })) }),
});

export const finishOidcLogin = defineRoute({
  operation: 'finish-oidc-login',
  summary:
    'Where an identity provider sends the browser back to. Goes on to the console, signed in; or to its page that asks for a code, where ' +
    'it is not yet shown whose identity this is.',
  method: 'GET',
  path: '/api/auth/oidc/{connection_id}/callback',
  auth: 'public',
  forward: { limit: 'auth' },
  takesCookies: true,
  media: 'html',
  status: 303,
  /** Loose on purpose: an unknown connection is answered like one that cannot exist. */
  params: z.strictObject({ connection_id: z.string().min(1).max(128) }),
  /** Providers send more than the standard names, and the whole is held against it. */
  query: z.looseObject({ state: z.string().max(128).optional() }),
  reply: z.string(),
  errors: ['NOT_FOUND', 'OIDC_REFUSED', 'OIDC_UNAVAILABLE', 'RATE_LIMITED'],
});
