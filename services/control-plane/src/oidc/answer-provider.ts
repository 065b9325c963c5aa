import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import type { Tokens } from '../sessions/cookies.ts';
import { loginLifetimeMs } from '../sessions/lifetimes.ts';
import { openSession, type Opener } from '../sessions/open-session.ts';
import { hashOf, newLoginId } from '../sessions/tokens.ts';
import { findProviderIdentity, recordProviderIdentityUse } from '../store/provider-identities.ts';
import { findOpenLogin, finishLogin, insertLogin } from '../store/logins.ts';
import { isSameBrowser } from './browser-key.ts';
import type { OidcConnection } from './connections.ts';
import { oidcRefused } from './oidc-refused.ts';
import type { ProvenIdentity } from './providers.ts';

type Answered = { connectionId: string; state: string; search: string; browserKey: string | null };
/** Signed in; or there is a login to be finished by a code, which links the identity. */
type Proven = { tokens: Tokens } | { linkLoginId: string };

/**
 * The answer of a provider (all of it attacker-controlled) to a login of this browser; any answer consumes the login.
 * Throws OIDC_REFUSED, OIDC_UNAVAILABLE.
 */
export async function answerProvider(context: Context, answered: Answered, opener: Opener): Promise<Proven> {
  const { connectionId, state, search, browserKey } = answered;
  const connection = context.connections.find(connectionId);
  if (connection === null) throw notFound();
  const idHash = hashOf(state);
  const oidc = (await findOpenLogin(context.database.reader, idHash, context.now()))?.oidc;
  if (oidc?.step !== 'asked' || oidc.connectionId !== connectionId) throw oidcRefused();
  if (!isSameBrowser(oidc.browserHash, browserKey)) throw oidcRefused();
  const isFirst = await context.transaction((tx) => finishLogin(tx, { idHash, userId: null }, context.now()));
  if (!isFirst) throw oidcRefused();
  const { nonce, verifier, browserHash } = oidc;
  const identity = await context.providers.prove(connection, { search, question: { state, nonce, verifier } });
  const known = await findProviderIdentity(context.database.reader, identity);
  if (known === null) return askWhose(context, { connection, identity, browserHash });
  const { tokens } = await context.transaction(async (tx) => {
    const now = context.now();
    await recordProviderIdentityUse(tx, identity, now);
    const provenAt = presenceIn(identity, now);
    return openSession(tx, context, { ...opener, userId: known.userId, methods: ['oidc'], provenAt });
  });
  return { tokens };
}

/** Without the provider's statement of presence, the session opens nothing that needs a present person. */
function presenceIn({ authenticatedAt }: ProvenIdentity, now: Date): Date {
  if (authenticatedAt === null) return new Date(0);
  return authenticatedAt < now ? authenticatedAt : now;
}

type Unknown = { connection: OidcConnection; identity: ProvenIdentity; browserHash: string };

/**
 * An unlinked identity: a code to the address that the provider names shows whose it is. The address by itself says
 * nothing.
 */
async function askWhose(context: Context, { connection, identity, browserHash }: Unknown): Promise<Proven> {
  const email = await identity.readAddress();
  const domain = email?.slice(email.lastIndexOf('@') + 1);
  if (email === null || domain === undefined || !connection.linkDomains.includes(domain)) throw oidcRefused();
  const loginId = newLoginId();
  const { issuer, subject } = identity;
  const { connectionId } = connection;
  const oidc = { step: 'proven' as const, connectionId, issuer, subject, browserHash };
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + loginLifetimeMs);
  const login = { email, userId: null, sessionId: null, statement: null, oidc, createdAt, expiresAt };
  await context.transaction((tx) => insertLogin(tx, { ...login, idHash: hashOf(loginId) }));
  return { linkLoginId: loginId };
}
