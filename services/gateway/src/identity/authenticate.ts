import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import { findSession, insertSession, markRotated, revokeFamily, type StoredSession } from '../store/sessions.ts';
import { findFirstMembership } from '../store/workspaces.ts';
import {
  looksLikeSessionToken,
  newSessionToken,
  sessionLifetimeMs,
  sessionState,
  sessionTokenHash,
} from './session-token.ts';

type Deps = Pick<Context, 'now' | 'transaction'>;

/**
 * The session of a token. Throws CREDENTIALS_INVALID. Use of a token that was replaced more than a minute ago revokes
 * its whole family.
 */
export async function authenticate(
  context: Pick<Context, 'log' | 'database' | 'now' | 'transaction'>,
  token: string,
): Promise<StoredSession> {
  if (!looksLikeSessionToken(token)) throw refused();
  const session = await findSession(context.database.reader, sessionTokenHash(token));
  if (session === null) throw refused();
  const state = sessionState(session, context.now());
  if (state === 'reused') {
    await revokeReused(context, session);
    context.log.warn('session.token_reused', { family_id: session.familyId, user_id: session.user.id });
  }
  if (state !== 'valid' && state !== 'due') throw refused();
  return session;
}

async function revokeReused(context: Deps, session: StoredSession): Promise<void> {
  await context.transaction(async (tx) => {
    const now = context.now();
    await revokeFamily(tx, session.familyId, { now, reason: 'token_reused' });
    const membership = await findFirstMembership(tx, session.user.id);
    if (membership === null) return;
    const { workspaceId } = membership;
    const actor = session.user.id;
    const entry = { workspaceId, action: 'session.revoked', actor, verdict: 'deny', reason: 'TOKEN_REUSED' } as const;
    await recordAudit(tx, { ...entry, subject: actor }, now);
  });
}

/** Rotates a session that is due and returns the new token. `null` when it is not due or another request did it. */
export async function rotateIfDue(context: Deps, session: StoredSession): Promise<string | null> {
  const now = context.now();
  if (sessionState(session, now) !== 'due') return null;
  const token = newSessionToken();
  const isRotated = await context.transaction(async (tx) => {
    if (!(await markRotated(tx, session, now))) return false;
    await insertSession(tx, {
      userId: session.user.id,
      familyId: session.familyId,
      tokenHash: sessionTokenHash(token),
      createdAt: now,
      expiresAt: new Date(now.getTime() + sessionLifetimeMs),
    });
    return true;
  });
  return isRotated ? token : null;
}

function refused(): AppError {
  return new AppError('CREDENTIALS_INVALID', 'The session is not valid');
}
