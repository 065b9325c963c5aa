import { z } from 'zod';
import { OidcConnectionId } from '../control-plane/oidc.ts';
import { OrgId } from '../governance-kernel/tenants.ts';
import { PersonRole } from '../person-assertion.ts';
import { defineRoute } from '../route.ts';
import { Instant, ScimTokenId, storableText, UserId } from '../scalars.ts';

export const identityLimits = {
  domains: 20,
  roleMappings: 100,
  /**
   * The most tokens that are neither revoked nor expired. Each identity provider has one, and two while its token is
   * replaced.
   */
  liveScimTokens: 10,
  scimTokenDays: 365,
} as const;

/** A name in DNS with at least two labels. An internationalised name is in its ASCII form (`xn--…`). */
const DomainName = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/,
    'must be a domain name such as example.com',
  );

export const RoleMapping = z.strictObject({
  /** The display name of a group at the identity provider. */
  group: storableText({ min: 1, max: 256 }),
  role: PersonRole,
});
export type RoleMapping = z.infer<typeof RoleMapping>;

const ClaimedDomain = z.strictObject({
  domain: DomainName,
  status: z.enum(['pending', 'verified']),
  /** The TXT record that proves the ownership of the domain. */
  challenge: z.strictObject({ name: z.string(), value: z.string() }),
  claimed_at: Instant,
  /** `null` while the domain is pending. */
  verified_at: Instant.nullable(),
});

export const ScimTokenView = z.strictObject({
  token_id: ScimTokenId,
  name: z.string(),
  created_by: UserId,
  created_at: Instant,
  expires_at: Instant,
  /** `null` when it was never used. */
  last_used_at: Instant.nullable(),
});
export type ScimTokenView = z.infer<typeof ScimTokenView>;

const memberOfBoth = {
  /**
   * Whether people of the verified domains must sign in through the connection. The break-glass person may also use a
   * passkey.
   */
  sso_required: z.boolean(),
  /** The connection at the control plane through which people sign in. `null` when there is none. */
  oidc_connection_id: OidcConnectionId.nullable(),
  role_mappings: z
    .array(RoleMapping)
    .max(identityLimits.roleMappings)
    .refine(
      (mappings) => new Set(mappings.map(({ group }) => group)).size === mappings.length,
      'must name a group once',
    ),
};

export const IdentitySettings = z.strictObject({
  org_id: OrgId,
  /** The ETag. It rises with each change; 0 when nothing was set. */
  version: z.int().min(0),
  ...memberOfBoth,
  /** The administrator of the organisation, who can always sign in with a passkey. */
  break_glass_user_id: UserId,
  domains: z.array(ClaimedDomain),
  /** Tokens that are neither revoked nor expired. */
  scim_tokens: z.array(ScimTokenView),
});
export type IdentitySettings = z.infer<typeof IdentitySettings>;

const OfOrg = z.strictObject({ org_id: OrgId });

export const getIdentity = defineRoute({
  operation: 'get-identity-settings',
  summary:
    'Get the identity settings of an organisation with their ETag: domains, single sign-on, role mappings and ' +
    'SCIM tokens.',
  method: 'GET',
  path: '/api/commercial/identity',
  auth: 'session',
  forward: {},
  query: OfOrg,
  reply: IdentitySettings,
  errors: ['NOT_FOUND'],
});

export const putIdentity = defineRoute({
  operation: 'put-identity-settings',
  summary:
    'Replace the identity settings, with If-Match. A new domain gets a challenge. Send the domain again after you ' +
    'add the TXT record. Omitted domains are removed.',
  method: 'PUT',
  path: '/api/commercial/identity',
  auth: 'session',
  needsPresence: true,
  forward: {},
  idempotency: { exempt: 'precondition' },
  query: OfOrg,
  body: z.strictObject({
    ...memberOfBoth,
    domains: z
      .array(DomainName)
      .max(identityLimits.domains)
      .refine((domains) => new Set(domains).size === domains.length, 'must name a domain once'),
  }),
  reply: IdentitySettings,
  errors: [
    'NOT_FOUND',
    'PRECONDITION_REQUIRED',
    'PRECONDITION_FAILED',
    'GATE_NOT_PASSED',
    'ALREADY_EXISTS',
    'CONTROL_PLANE_UNAVAILABLE',
  ],
});

export const createScimToken = defineRoute({
  operation: 'create-scim-token',
  summary: 'Create a bearer token for an identity provider. The secret is returned only once.',
  method: 'POST',
  path: '/api/commercial/identity/scim-tokens',
  auth: 'session',
  needsPresence: true,
  forward: {},
  idempotency: { exempt: 'secret' },
  status: 201,
  query: OfOrg,
  body: z.strictObject({
    name: storableText({ min: 1, max: 128 }),
    /** Default 365. */
    expires_in_days: z.int().min(1).max(identityLimits.scimTokenDays).optional(),
  }),
  reply: z.strictObject({ token: ScimTokenView, secret: z.string() }),
  errors: ['NOT_FOUND', 'GATE_NOT_PASSED'],
});

export const revokeScimToken = defineRoute({
  operation: 'revoke-scim-token',
  summary: 'Revoke a SCIM token. Revoking it again changes nothing.',
  method: 'DELETE',
  path: '/api/commercial/identity/scim-tokens/{token_id}',
  auth: 'session',
  needsPresence: true,
  forward: {},
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ token_id: z.string().min(1).max(128) }),
  query: OfOrg,
  reply: z.strictObject({ revoked: z.literal(true) }),
  errors: ['NOT_FOUND'],
});
