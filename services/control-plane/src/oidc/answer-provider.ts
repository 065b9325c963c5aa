import { domainOf } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import type { Tokens } from '../sessions/cookies.ts';
import { openAuthorized } from '../sessions/authorize-sign-in.ts';
import { loginLifetimeMs } from '../sessions/lifetimes.ts';
import { openSession, type Opener } from '../sessions/open-session.ts';
import { hashOf, newLoginId } from '../sessions/tokens.ts';
import { findProviderIdentity, recordProviderIdentityUse } from '../store/provider-identities.ts';
import { findOpenLogin, finishLogin, insertLogin } from '../store/logins.ts';
import { isSameBrowser } from './browser-key.ts';
import type { OidcConnection } from './connections.ts';
import { oidcRefused } from './oidc-refused.ts';
import type { ProvenIdentity } from './providers.ts';

type Deps = Pick<Context, 'database' | 'newEvent' | 'directory' | 'connections' | 'providers' | 'now' | 'transaction'>;

type Answered = { connectionId: string; state: string; search: string; browserKey: string | null };
/** Either the tokens of a new session, or a login that links the identity once a code completes it. */
type Proven = { tokens: Tokens } | { linkLoginId: string };

/**
 * Handles the answer of a provider (all of it attacker-controlled) to a login of this browser. An answer to an open
 * login of this browser consumes the login. Throws NOT_FOUND, OIDC_REFUSED, OIDC_UNAVAILABLE, and like openAuthorized.
 */
export async function answerProvider(context: Deps, answered: Answered, opener: Opener): Promise<Proven> {
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
  const existing = await findProviderIdentity(context.database.reader, identity);
  if (existing === null) return askWhose(context, { connection, identity, browserHash });
  const signIn = { userId: existing.userId, connectionId, requestId: opener.requestId };
  const { tokens } = await openAuthorized(context, signIn, async (tx) => {
    const now = context.now();
    await recordProviderIdentityUse(tx, identity, now);
    const provenAt = presenceIn(identity, now);
    return openSession(tx, context, { ...opener, userId: existing.userId, methods: ['oidc'], provenAt });
  });
  return { tokens };
}

/**
 * The time at which the person last proved presence. If the provider states none, routes that require presence need a
 * new proof.
 */
function presenceIn({ authenticatedAt }: ProvenIdentity, now: Date): Date {
  if (authenticatedAt === null) return new Date(0);
  return authenticatedAt < now ? authenticatedAt : now;
}

type Unknown = { connection: OidcConnection; identity: ProvenIdentity; browserHash: string };

/**
 * Begins a login that links an unlinked identity. A code that is sent to the address from the provider must complete
 * it, since the address alone proves nothing. Throws OIDC_REFUSED when there is no address, or its domain may not link.
 */
async function askWhose(
  context: Pick<Context, 'now' | 'transaction'>,
  { connection, identity, browserHash }: Unknown,
): Promise<Proven> {
  const email = await identity.readAddress();
  if (email === null || !connection.linkDomains.includes(domainOf(email))) throw oidcRefused();
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
