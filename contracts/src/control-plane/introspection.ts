import { z } from 'zod';
import { ProofMethod } from '../person-assertion.ts';
import { defineRoute } from '../route.ts';
import { Instant, SignInId, UserId } from '../scalars.ts';

export const introspectSession = defineRoute({
  operation: 'introspect-session',
  summary: 'Whose session an access cookie is of, after RFC 7662. What is over, unknown or malformed is not active.',
  method: 'POST',
  path: '/internal/sessions/introspect',
  auth: 'service_internal',
  idempotent: false, // it changes nothing
  bodyBytesMax: 10_000,
  body: z.strictObject({ token: z.string().min(1).max(256) }),
  reply: z.discriminatedUnion('active', [
    z.strictObject({ active: z.literal(false) }),
    z.strictObject({
      active: z.literal(true),
      sub: UserId,
      sid: SignInId,
      methods: z.array(ProofMethod).min(1),
      proven_at: Instant,
      csrf_token: z.string(),
    }),
  ]),
});
