import { z } from 'zod';
import { PersonRole, ProofMethod } from '../person-assertion.ts';
import { CredentialId } from '../governance-kernel/passkeys.ts';
import { defineRoute } from '../route.ts';
import { Instant, SignInId, UserId, WorkspaceId } from '../scalars.ts';

/** The signed-in person of a browser, and the values that its pages need. */
export const SessionView = z.strictObject({
  /** The id of the sign-in. */
  session_id: SignInId,
  user_id: UserId,
  methods: z.array(ProofMethod).min(1),
  /** The time of the person's last proof of identity. */
  proven_at: Instant,
  signed_in_at: Instant,
  /** The session ends at this time unless it is renewed. */
  expires_at: Instant,
  /** The token that a page sends as X-CSRF-Token with every request that changes something. */
  csrf_token: z.string(),
});
export type SessionView = z.infer<typeof SessionView>;

const OpenSession = z.strictObject({
  /** The id of the sign-in. */
  session_id: SignInId,
  /** The name that the browser or the program states for itself. */
  client: z.string(),
  /** The IP address of the sign-in. */
  address: z.string(),
  signed_in_at: Instant,
  expires_at: Instant,
});

/** An identity at a provider, as a path-safe name: `idp.` and the SHA-256 of its issuer and subject. */
export const ProviderIdentityId = z.string().regex(/^idp\.[\w-]{43}$/);

/**
 * The session of this browser, and everything else by which the person is signed in: the newest hundred of each kind.
 */
export const SessionOverview = SessionView.extend({
  sessions: z.array(OpenSession.extend({ current: z.boolean() })),
  /** Programs that the person confirmed with a code. */
  devices: z.array(OpenSession.extend({ workspace_id: WorkspaceId, role: PersonRole })),
  /**
   * Passkeys that are enrolled here. The kernel stores each in one workspace, and reports which of them wait for a
   * voucher.
   */
  passkeys: z.array(
    z.strictObject({
      credential_id: CredentialId,
      workspace_id: WorkspaceId,
      enrolled_at: Instant,
      signed_in_at: Instant.nullable(),
    }),
  ),
  /** Identities at OpenID Connect providers with which the person can sign in. */
  identities: z.array(
    z.strictObject({
      identity_id: ProviderIdentityId,
      connection_id: z.string(),
      issuer: z.string(),
      subject: z.string(),
      linked_at: Instant,
      signed_in_at: Instant.nullable(),
    }),
  ),
});
export type SessionOverview = z.infer<typeof SessionOverview>;

export const getSession = defineRoute({
  operation: 'get-session',
  summary: 'Get the session of this browser, and all sessions and programs of the person.',
  method: 'GET',
  path: '/api/session',
  auth: 'session',
  forward: { limit: 'auth' },
  provenBy: 'browser_session',
  reply: SessionOverview,
});

export const deleteSession = defineRoute({
  operation: 'delete-session',
  summary: 'Sign this browser out immediately.',
  method: 'DELETE',
  path: '/api/session',
  auth: 'session',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'repeatable' },
  provenBy: 'browser_session',
  reply: z.strictObject({ ended: z.literal(true) }),
});

export const endCredential = defineRoute({
  operation: 'end-credential',
  summary:
    'Revoke another session, a program, a passkey or an identity of the person. Everything that it opened ends ' +
    'immediately.',
  method: 'DELETE',
  path: '/api/session/credentials/{credential_id}',
  auth: 'session',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'repeatable' },
  needsPresence: true,
  provenBy: 'browser_session',
  params: z.strictObject({ credential_id: z.string().min(1).max(1_364) }),
  reply: z.strictObject({ ended: z.literal(true) }),
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE'],
});
