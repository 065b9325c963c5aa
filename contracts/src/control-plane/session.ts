import { z } from 'zod';
import { PersonRole, ProofMethod } from '../person-assertion.ts';
import { CredentialId } from '../governance-kernel/passkeys.ts';
import { defineRoute } from '../route.ts';
import { Instant, SignInId, UserId, WorkspaceId } from '../scalars.ts';

/** Who is signed in in a browser, and what its pages need to act. */
export const SessionView = z.strictObject({
  session_id: SignInId,
  user_id: UserId,
  methods: z.array(ProofMethod).min(1),
  /** When the person last proved who they are. */
  proven_at: Instant,
  signed_in_at: Instant,
  /** Without a renewal by then the session is over. */
  expires_at: Instant,
  /** A page sends it as X-CSRF-Token with everything that changes something. */
  csrf_token: z.string(),
});
export type SessionView = z.infer<typeof SessionView>;

const OpenSession = z.strictObject({
  session_id: SignInId,
  /** The name that the browser or the program gives itself. */
  client: z.string(),
  /** Where the sign-in came from. */
  address: z.string(),
  signed_in_at: Instant,
  expires_at: Instant,
});

/** An identity at a provider, under a name that a path can hold: `idp.` and the SHA-256 of its issuer and subject. */
export const ProviderIdentityId = z.string().regex(/^idp\.[\w-]{43}$/);

/** The session of this browser, and everything else by which the person is signed in: the newest hundred of each kind. */
export const SessionOverview = SessionView.extend({
  sessions: z.array(OpenSession.extend({ current: z.boolean() })),
  /** Programs that were let in by a code. */
  devices: z.array(OpenSession.extend({ workspace_id: WorkspaceId, role: PersonRole })),
  /** Enrolled here: the kernel holds them, each in one workspace, and says which of them wait for a voucher. */
  passkeys: z.array(
    z.strictObject({
      credential_id: CredentialId,
      workspace_id: WorkspaceId,
      enrolled_at: Instant,
      signed_in_at: Instant.nullable(),
    }),
  ),
  /** At OpenID Connect providers: each signs the person in. */
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
  summary: 'The session of this browser, with all sessions and programs of the person.',
  method: 'GET',
  path: '/api/session',
  auth: 'session',
  forward: { limit: 'auth' },
  provenBy: 'browser_session',
  reply: SessionOverview,
});

export const deleteSession = defineRoute({
  operation: 'delete-session',
  summary: 'Sign this browser out, at once.',
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
    'End another session, a program, a passkey or an identity of the person, at once, with everything that is open by it.',
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
