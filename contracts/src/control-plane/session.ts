import { z } from 'zod';
import { ProofMethod } from '../person-assertion.ts';
import { defineRoute } from '../route.ts';
import { Instant, SignInId, UserId } from '../scalars.ts';

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

export const getSession = defineRoute({
  operation: 'get-session',
  summary: 'The session of this browser.',
  method: 'GET',
  path: '/api/session',
  auth: 'session',
  provenBy: 'browser_session',
  reply: SessionView,
});

export const deleteSession = defineRoute({
  operation: 'delete-session',
  summary: 'Sign this browser out, at once.',
  method: 'DELETE',
  path: '/api/session',
  auth: 'session',
  provenBy: 'browser_session',
  reply: z.strictObject({ ended: z.literal(true) }),
});
