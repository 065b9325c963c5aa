import { createHmac } from 'node:crypto';
import type { SignInId } from '@countersign/contracts';

/** The token that the pages of a session send with every change. Other sites can neither read nor guess it. */
export function csrfTokenOf(secret: string, sessionId: SignInId): string {
  return createHmac('sha256', secret).update(`countersign/csrf/v1\n${sessionId}`).digest('base64url');
}
