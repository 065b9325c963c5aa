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
    "Introspect an access cookie or a program's token, as in RFC 7662. Ended, unknown and malformed tokens are " +
    'inactive.',
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
      /** The token opens only this workspace, with at most this role. */
      z.strictObject({ ...ofSession, kind: z.literal('device'), workspace_id: WorkspaceId, role: PersonRole }),
    ]),
  ]),
});

/** The most sessions of one request. It is more than the number of sessions to which one gateway streams. */
const watchedMax = 10_000;

export const listLiveSessions = defineRoute({
  operation: 'list-live-sessions',
  summary:
    'List which of these sessions are still live. Streaming services use this to close the streams of ended sessions.',
  method: 'POST',
  path: '/internal/sessions/live',
  auth: 'service_internal',
  idempotency: { exempt: 'reads' },
  body: z.strictObject({ session_ids: z.array(SignInId).max(watchedMax) }),
  bodyValuesMax: watchedMax + 10,
  reply: z.strictObject({
    /** The sessions of the request that are still live. */
    live: z.array(SignInId),
  }),
});
