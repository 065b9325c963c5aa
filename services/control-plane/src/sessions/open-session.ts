import type { ProofMethod, UserId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { newSessionId } from '../ids.ts';
import type { Tx } from '../store/database.ts';
import { insertSession, insertTokens, type StoredSession } from '../store/sessions.ts';
import type { Tokens } from './cookies.ts';
import { accessLifetimeMs, sessionLifetimeMs } from './lifetimes.ts';
import { hashOf, newToken } from './tokens.ts';

type Opened = { session: StoredSession; tokens: Tokens };

/** A session of a person who has just proven who they are. */
export async function openSession(
  tx: Tx,
  { now }: Pick<Context, 'now'>,
  { userId, method }: { userId: UserId; method: ProofMethod },
): Promise<Opened> {
  const at = now();
  const session: StoredSession = {
    id: newSessionId(),
    userId,
    methods: [method],
    provenAt: at,
    createdAt: at,
    expiresAt: new Date(at.getTime() + sessionLifetimeMs),
    endedAt: null,
  };
  await insertSession(tx, session);
  return { session, tokens: await issueTokens(tx, session, at) };
}

/** The next pair of a session; only their hashes are kept. */
export async function issueTokens(tx: Tx, { id }: Pick<StoredSession, 'id'>, now: Date): Promise<Tokens> {
  const tokens = { access: newToken('access'), refresh: newToken('refresh') };
  await insertTokens(tx, {
    sessionId: id,
    accessHash: hashOf(tokens.access),
    accessExpiresAt: new Date(now.getTime() + accessLifetimeMs),
    refreshHash: hashOf(tokens.refresh),
    issuedAt: now,
  });
  return tokens;
}
