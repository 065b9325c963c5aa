import { AppError, EmailAddress } from '@countersign/contracts';
import * as openid from 'openid-client';
import { boundedFetch, ProviderAway } from './bounded-fetch.ts';
import { isTrustworthy, type OidcConnection } from './connections.ts';

/** The values that a login sends and remembers; none is used twice. */
type OidcQuestion = { state: string; nonce: string; verifier: string };

/** Who a provider says that sits at the browser. */
export type ProvenIdentity = {
  issuer: string;
  subject: string;
  /** When they were there, as far as the provider says it. */
  authenticatedAt: Date | null;
  /** The address that the provider has for them, proven or not; null: it tells none. */
  readAddress(): Promise<string | null>;
};

export type OidcProviders = {
  newQuestion(state: string): OidcQuestion;
  /** Where the browser asks. Throws OIDC_UNAVAILABLE. */
  addressOf(connection: OidcConnection, question: OidcQuestion): Promise<string>;
  /**
   * The provider's answer, in the query of the address that it sent the browser to. Throws OIDC_REFUSED,
   * OIDC_UNAVAILABLE.
   */
  prove(connection: OidcConnection, answered: { search: string; question: OidcQuestion }): Promise<ProvenIdentity>;
};

type Parts = { consoleUrl: string; fetchNow: typeof fetch; now: () => Date };
type Known = { configuration: Promise<openid.Configuration>; readAtMs: number };

/** Less than a person waits at a page, for each question of the few that a sign-in asks. */
const timeoutSeconds = 8;
/** A provider that changes what it says of itself is believed within the hour; new keys it may use at once. */
const knownMaxMs = 3_600_000;

export function createProviders({ consoleUrl, fetchNow, now }: Parts): OidcProviders {
  const known = new Map<string, Known>();
  const configurationOf = (connection: OidcConnection): Promise<openid.Configuration> => {
    const found = known.get(connection.connectionId);
    if (found !== undefined && now().getTime() - found.readAtMs < knownMaxMs) return found.configuration;
    const configuration = discover(connection, fetchNow);
    known.set(connection.connectionId, { configuration, readAtMs: now().getTime() });
    // A failed discovery is repeated.
    configuration.catch(() => known.delete(connection.connectionId));
    return configuration;
  };
  const returnAddress = ({ connectionId }: OidcConnection) =>
    new URL(`/api/auth/oidc/${connectionId}/callback`, consoleUrl);
  return {
    newQuestion: (state) => ({ state, nonce: openid.randomNonce(), verifier: openid.randomPKCECodeVerifier() }),
    addressOf: (connection, { state, nonce, verifier }) =>
      told(async () => {
        const address = openid.buildAuthorizationUrl(await configurationOf(connection), {
          redirect_uri: returnAddress(connection).href,
          scope: 'openid email',
          ...{ state, nonce, code_challenge_method: 'S256' },
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        });
        // A page goes there: an address of another kind would run in it.
        if (!isTrustworthy(address.href))
          throw new ProviderAway('The provider names no address that a browser may go to');
        return address.href;
      }),
    prove: (connection, { search, question }) =>
      told(async () => {
        const configuration = await configurationOf(connection);
        const address = returnAddress(connection);
        address.search = search;
        const tokens = await openid.authorizationCodeGrant(configuration, address, {
          expectedState: question.state,
          expectedNonce: question.nonce,
          pkceCodeVerifier: question.verifier,
          idTokenExpected: true,
        });
        return identityOf(configuration, tokens);
      }),
  };
}

/**
 * Signatures are checked although the token comes over TLS, so an attacker between a provider and us cannot make an
 * identity.
 */
function discover(connection: OidcConnection, fetchNow: typeof fetch): Promise<openid.Configuration> {
  const { issuer, clientId, clientSecret } = connection;
  const isPlain = new URL(issuer).protocol === 'http:';
  const proof = clientSecret === null ? openid.None() : openid.ClientSecretBasic(clientSecret);
  return openid.discovery(new URL(issuer), clientId, undefined, proof, {
    timeout: timeoutSeconds,
    [openid.customFetch]: boundedFetch(fetchNow),
    execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
  });
}

type Tokens = Awaited<ReturnType<typeof openid.authorizationCodeGrant>>;

function identityOf(configuration: openid.Configuration, tokens: Tokens): ProvenIdentity {
  const claims = tokens.claims();
  if (claims === undefined) throw new Error('There is no ID token');
  const { iss: issuer, sub: subject, email, auth_time: authTime } = claims;
  return {
    issuer,
    subject,
    authenticatedAt: authTime === undefined ? null : new Date(authTime * 1_000),
    readAddress: () =>
      told(async () => {
        // Some tell it on request alone.
        const told = email ?? (await openid.fetchUserInfo(configuration, tokens.access_token, subject)).email;
        return EmailAddress.safeParse(told).data ?? null;
      }),
  };
}

/**
 * Reports whether a provider was away or sent no valid answer. The cause is in the log and not shown in the browser.
 */
async function told<Said>(ask: () => Promise<Said>): Promise<Said> {
  try {
    return await ask();
  } catch (cause) {
    if (isAway(cause)) throw new AppError('OIDC_UNAVAILABLE', 'The identity provider does not answer', { cause });
    throw new AppError('OIDC_REFUSED', 'The identity provider did not say who you are', { cause });
  }
}

function isAway(error: unknown): boolean {
  return error instanceof ProviderAway || (error instanceof Error && error.cause !== undefined && isAway(error.cause));
}
