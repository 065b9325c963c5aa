import { z } from 'zod';
import { ceremonyBytesMax, Passkey, PasskeyAttestation, registerPasskey } from '../governance-kernel/passkeys.ts';
import { defineRoute } from '../route.ts';

export const beginPasskey = defineRoute({
  operation: 'begin-passkey',
  summary:
    'Start the enrolment of a passkey for sign-in and for votes in the addressed workspace. Returns options for ' +
    '`navigator.credentials.create`.',
  method: 'POST',
  path: '/api/auth/webauthn/register/begin',
  auth: 'session',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'challenge' },
  needsPresence: true,
  leastRole: 'partner',
  right: 'own_passkey.manage',
  status: 201,
  reply: registerPasskey.reply,
  errors: ['PASSKEYS_UNAVAILABLE', 'ILLEGAL_TRANSITION', 'GOVERNANCE_UNAVAILABLE'],
});

export const finishPasskey = defineRoute({
  operation: 'finish-passkey',
  summary:
    'Finish the enrolment of a passkey. A `waiting` passkey cannot sign in until an owner or another partner vouches for it.',
  method: 'POST',
  path: '/api/auth/webauthn/register/finish',
  auth: 'session',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'single_use' },
  needsPresence: true,
  leastRole: 'partner',
  right: 'own_passkey.manage',
  bodyBytesMax: ceremonyBytesMax,
  body: z.strictObject({ attestation: PasskeyAttestation }),
  status: 201,
  reply: Passkey,
  errors: ['PASSKEY_REFUSED', 'ALREADY_EXISTS', 'PASSKEYS_UNAVAILABLE', 'GOVERNANCE_UNAVAILABLE'],
});
