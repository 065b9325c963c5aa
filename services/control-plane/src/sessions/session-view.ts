import type { SessionView } from '@countersign/contracts/control-plane';
import type { StoredSession } from '../store/sessions.ts';
import { instant } from '../store/instant.ts';
import { csrfTokenOf } from './csrf-token.ts';

export function sessionView(session: StoredSession, secret: string): SessionView {
  const { id, userId, methods, provenAt, createdAt, expiresAt } = session;
  return {
    session_id: id,
    user_id: userId,
    methods,
    proven_at: instant(provenAt),
    signed_in_at: instant(createdAt),
    expires_at: instant(expiresAt),
    csrf_token: csrfTokenOf(secret, id),
  };
}
