import { createHmac } from 'node:crypto';
import type { SignInId } from '@countersign/contracts';

/** What the pages of a session send back with everything that changes something: no other site can read it, nor guess it. */
export function csrfTokenOf(secret: string, sessionId: SignInId): string {
  return createHmac('sha256', secret).update(`countersign/csrf/v1\n${sessionId}`).digest('base64url');
}
