import type { Context } from '../context.ts';
import { newSessionId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { findBrowserSession, insertSession, insertTokens, type StoredSession } from '../store/sessions.ts';
import type { Tokens } from './cookies.ts';
import { endSignIn } from './end-sign-in.ts';
import { accessLifetimeMs, sessionLifetimeMs } from './lifetimes.ts';
import { holderOf, isLive } from './session-state.ts';
import { hashOf, newToken } from './tokens.ts';

type Opened = { session: StoredSession; tokens: Tokens };
/** The request that opens a session, and the name that the browser or program sends. */
export type Opener = Pick<StoredSession, 'client' | 'address'> & {
  requestId: string;
  /**
   * The hash of the access cookie that the browser had before. The session of that cookie ends, since no page has the
   * cookie any more and could end the session later.
   */
  replacesHash?: string | null;
};
type Opening = Opener & Pick<StoredSession, 'userId' | 'methods'> & Partial<Pick<StoredSession, 'provenAt' | 'within'>>;

/**
 * Opens a session of a person who has just authenticated. The session of a program takes its time of proof from the
 * session in which a person authorized the program.
 */
export async function openSession(
  tx: Tx,
  context: Pick<Context, 'now' | 'newEvent'>,
  { requestId, replacesHash = null, ...opening }: Opening,
): Promise<Opened> {
  const at = context.now();
  const before = replacesHash === null ? null : await findBrowserSession(tx, replacesHash);
  if (before !== null && isLive(before, at))
    await endSignIn(tx, context, before, { reason: 'signed_in_again', requestId });
  const session: StoredSession = {
    provenAt: at,
    within: null,
    ...opening,
    id: newSessionId(),
    createdAt: at,
    expiresAt: new Date(at.getTime() + sessionLifetimeMs),
    endedAt: null,
  };
  await insertSession(tx, session);
  const tokens = await issueTokens(tx, session, at);
  const { userId } = session;
  const act = { action: 'session.opened', actor: userId, verdict: 'allow', details: detailsOf(session) } as const;
  await recordAudit(tx, { ...act, scope: userId, subject: session.id, requestId }, at);
  return { session, tokens };
}

function detailsOf({ within, client, methods }: StoredSession): Record<string, string> {
  return within === null ? { method: methods.join(' ') } : { program: client, ...within };
}

/** Issues the next token pair of a session. Only hashes are stored. */
export async function issueTokens(
  tx: Tx,
  { id, within }: Pick<StoredSession, 'id' | 'within'>,
  now: Date,
): Promise<Tokens> {
  const holder = holderOf({ within });
  const tokens = { access: newToken(holder, 'access'), refresh: newToken(holder, 'refresh') };
  await insertTokens(tx, {
    sessionId: id,
    accessHash: hashOf(tokens.access),
    accessExpiresAt: new Date(now.getTime() + accessLifetimeMs),
    refreshHash: hashOf(tokens.refresh),
    issuedAt: now,
  });
  return tokens;
}
