import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ceremonyBytesMax } from '../governance-kernel/passkeys.ts';
import { authBodyBytesMax, LoginBegun, LoginProof } from './login.ts';
import { SessionView } from './session.ts';

export const beginReauth = defineRoute({
  operation: 'begin-reauth',
  summary: 'Start a new proof of presence for this session, with an emailed code or a passkey.',
  method: 'POST',
  path: '/api/auth/reauth/begin',
  auth: 'session',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'challenge' },
  provenBy: 'browser_session',
  bodyBytesMax: authBodyBytesMax,
  body: z.strictObject({ method: z.enum(['code', 'passkey']).default('code') }),
  reply: LoginBegun,
  errors: ['RATE_LIMITED', 'MAIL_UNAVAILABLE', 'PASSKEYS_UNAVAILABLE', 'GATEWAY_UNAVAILABLE', 'GOVERNANCE_UNAVAILABLE'],
});

export const finishReauth = defineRoute({
  operation: 'finish-reauth',
  summary: 'Finish the proof of presence. For five minutes, the session may use routes that require it.',
  method: 'POST',
  path: '/api/auth/reauth/finish',
  auth: 'session',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'single_use' },
  provenBy: 'browser_session',
  bodyBytesMax: ceremonyBytesMax,
  body: LoginProof,
  reply: SessionView,
  errors: ['CODE_INVALID', 'PASSKEY_REFUSED', 'RATE_LIMITED', 'GATEWAY_UNAVAILABLE', 'GOVERNANCE_UNAVAILABLE'],
});
