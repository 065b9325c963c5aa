import { z } from 'zod';
import { PersonRole, ProofMethod } from '../person-assertion.ts';
import { defineRoute } from '../route.ts';
import { Instant, SignInId, UserId, WorkspaceId } from '../scalars.ts';

const ofSession = {
  active: z.literal(true),
  sub: UserId,
  sid: SignInId,
  methods: z.array(ProofMethod).min(1),
  proven_at: Instant,
};

export const introspectSession = defineRoute({
  operation: 'introspect-session',
  summary:
    "The session of an access cookie or of a program's token, after RFC 7662. A token that ended, is unknown or is malformed is not active.",
  method: 'POST',
  path: '/internal/sessions/introspect',
  auth: 'service_internal',
  idempotency: { exempt: 'reads' },
  bodyBytesMax: 10_000,
  body: z.strictObject({ token: z.string().min(1).max(256) }),
  reply: z.discriminatedUnion('active', [
    z.strictObject({ active: z.literal(false) }),
    z.discriminatedUnion('kind', [
      z.strictObject({ ...ofSession, kind: z.literal('browser'), csrf_token: z.string() }),
      /** All that the token opens is in this workspace, as at most what this role may. */
      z.strictObject({ ...ofSession, kind: z.literal('device'), workspace_id: WorkspaceId, role: PersonRole }),
    ]),
  ]),
});

/** More than one gateway keeps streams open for. */
const watchedMax = 10_000;

export const listLiveSessions = defineRoute({
  operation: 'list-live-sessions',
  summary:
    'The sessions among these that are still live. A service that streams to them asks, and closes the streams of the others.',
  method: 'POST',
  path: '/internal/sessions/live',
  auth: 'service_internal',
  idempotency: { exempt: 'reads' },
  body: z.strictObject({ session_ids: z.array(SignInId).max(watchedMax) }),
  bodyValuesMax: watchedMax + 10,
  reply: z.strictObject({ live: z.array(SignInId) }),
});
