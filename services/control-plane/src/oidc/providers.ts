import { AppError, EmailAddress } from '@countersign/contracts';
import * as openid from 'openid-client';
import { boundedFetch, ProviderAway } from './bounded-fetch.ts';
import { isTrustworthy, type OidcConnection } from './connections.ts';

/** The values that a login sends and stores. Each is used once. */
type OidcQuestion = { state: string; nonce: string; verifier: string };

/** The identity that a provider states for the person at the browser. */
export type ProvenIdentity = {
  issuer: string;
  subject: string;
  /** The time of authentication, if the provider states it. */
  authenticatedAt: Date | null;
  /** The address that the provider has, proven or not. `null` when it returns no valid address. */
  readAddress(): Promise<string | null>;
};

export type OidcProviders = {
  newQuestion(state: string): OidcQuestion;
  /** The address to which the browser is sent. Throws OIDC_UNAVAILABLE. */
  addressOf(connection: OidcConnection, question: OidcQuestion): Promise<string>;
  /** Verifies the answer of the provider in the query of the redirect. Throws OIDC_REFUSED, OIDC_UNAVAILABLE. */
  prove(connection: OidcConnection, answered: { search: string; question: OidcQuestion }): Promise<ProvenIdentity>;
};

type Deps = { consoleUrl: string; fetchNow: typeof fetch; now: () => Date };
type Entry = { configuration: Promise<openid.Configuration>; readAtMs: number };

/** The limit for each request of a sign-in. It is shorter than a person waits for a page. */
const timeoutSeconds = 8;
/** Changed metadata of a provider is used within the hour. New keys are used at once. */
const knownMaxMs = 3_600_000;

export function createProviders({ consoleUrl, fetchNow, now }: Deps): OidcProviders {
  const existing = new Map<string, Entry>();
  const configurationOf = (connection: OidcConnection): Promise<openid.Configuration> => {
    const found = existing.get(connection.connectionId);
    if (found !== undefined && now().getTime() - found.readAtMs < knownMaxMs) return found.configuration;
    const configuration = discover(connection, fetchNow);
    existing.set(connection.connectionId, { configuration, readAtMs: now().getTime() });
    // A failed discovery is repeated.
    configuration.catch(() => existing.delete(connection.connectionId));
    return configuration;
  };
  const returnAddress = ({ connectionId }: OidcConnection) =>
    new URL(`/api/auth/oidc/${connectionId}/callback`, consoleUrl);
  return {
    newQuestion: (state) => ({ state, nonce: openid.randomNonce(), verifier: openid.randomPKCECodeVerifier() }),
    addressOf: (connection, { state, nonce, verifier }) =>
      translatingErrors(async () => {
        const address = openid.buildAuthorizationUrl(await configurationOf(connection), {
          redirect_uri: returnAddress(connection).href,
          scope: 'openid email',
          ...{ state, nonce, code_challenge_method: 'S256' },
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        });
        // The browser is sent to this address. With a scheme such as `javascript:`, the address could run code in the
        // page.
        if (!isTrustworthy(address.href))
          throw new ProviderAway('The provider names no address that a browser may go to');
        return address.href;
      }),
    prove: (connection, { search, question }) =>
      translatingErrors(async () => {
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
 * Reads the metadata of the provider. Signatures of ID tokens are checked although the tokens come over TLS. An
 * attacker between the provider and us can therefore not forge an identity.
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
      translatingErrors(async () => {
        // Some providers return the address only from the user info endpoint.
        const address = email ?? (await openid.fetchUserInfo(configuration, tokens.access_token, subject)).email;
        return EmailAddress.safeParse(address).data ?? null;
      }),
  };
}

/**
 * Translates an error to OIDC_UNAVAILABLE when the provider was unavailable, and to OIDC_REFUSED otherwise. The cause
 * is logged and not shown in the browser.
 */
async function translatingErrors<Said>(ask: () => Promise<Said>): Promise<Said> {
  try {
    return await ask();
  } catch (cause) {
    if (isAway(cause)) throw new AppError('OIDC_UNAVAILABLE', 'The identity provider does not answer', { cause });
    throw new AppError('OIDC_REFUSED', 'The identity provider returned no valid identity. Begin the sign-in again', {
      cause,
    });
  }
}

function isAway(error: unknown): boolean {
  return error instanceof ProviderAway || (error instanceof Error && error.cause !== undefined && isAway(error.cause));
}
