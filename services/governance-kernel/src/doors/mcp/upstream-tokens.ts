import { setTimeout as delay } from 'node:timers/promises';
import { startDeadline } from '@countersign/contracts';
import type { FetchLike } from '@modelcontextprotocol/client';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  customFetch,
  None,
  processClientCredentialsResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
  type ClientAuth,
  type TokenEndpointResponse,
} from 'oauth4webapi';
import type { Dispatcher } from 'undici';
import { NotSent } from '../../decision/not-sent.ts';
import { Unauthorized } from './not-reached.ts';
import { pooledFetch } from './pooled-fetch.ts';
import { sending } from './sending.ts';
import type { McpServerConfig, UpstreamOauth } from './server-config.ts';

/** Stores the refresh tokens of servers for all replicas. */
export type RefreshTokens = {
  /** The current token, under a lease that other replicas wait for. `null` while another replica has it. */
  claim(configured: Configured): Promise<{ token: string } | null>;
  /** Ends the lease. `next`: the token that replaces the current token. `null` keeps the current token. */
  release(configured: Configured, next: string | null): Promise<void>;
};

export type Configured = { key: string; oauth: UpstreamOauth & { grant: 'refresh_token' } };

export type TokenOptions = {
  /** The key of the server in the registry. */
  key: string;
  config: McpServerConfig;
  agent: Dispatcher;
  refreshTokens: RefreshTokens;
  now: () => number;
};

type CachedToken = { token: string; endsAtMs: number };

const responseBytesMax = 65_536;
const requestTimeoutMs = 10_000;
/** A token is not used in the last seconds before it expires, since a request may take that long. */
const marginMs = 30_000;
const leaseWaitMs = 200;

/** Access tokens for one server with the credentials of its owner. Tokens of callers are never used. */
export class UpstreamTokens {
  readonly #oauth: UpstreamOauth;
  readonly #resource: string;
  readonly #options: Omit<TokenOptions, 'config'>;
  #token: CachedToken | null = null;
  #requesting: Promise<CachedToken> | null = null;

  constructor({
    oauth,
    resource,
    ...options
  }: Omit<TokenOptions, 'config'> & { oauth: UpstreamOauth; resource: string }) {
    this.#oauth = oauth;
    this.#resource = resource;
    this.#options = options;
  }

  /** Throws NotSent when the authorization server issues no token. */
  async bearer(): Promise<string> {
    const cached = this.#token;
    if (cached !== null && this.#options.now() < cached.endsAtMs) return cached.token;
    // All calls that need a token share one request for it. The request is therefore not part of any of these calls.
    this.#requesting ??= sending
      .exit(() => this.#request())
      .finally(() => {
        this.#requesting = null;
      });
    return (await this.#requesting).token;
  }

  /** Called when the server did not accept the token. */
  refuse(token: string): void {
    if (this.#token?.token === token) this.#token = null;
  }

  /** Tokens that a message must not contain. */
  issued(): string[] {
    return this.#token === null ? [] : [this.#token.token];
  }

  async #request(): Promise<CachedToken> {
    const deadline = startDeadline({ ms: requestTimeoutMs });
    try {
      const answer = await (this.#oauth.grant === 'refresh_token'
        ? this.#refresh({ key: this.#options.key, oauth: this.#oauth }, deadline.signal)
        : this.#clientCredentials(deadline.signal));
      if (answer.token_type !== 'bearer')
        throw new Error('The authorization server issued a token that is not a bearer token');
      const { access_token: token, expires_in: seconds } = answer;
      const lifetimeMs = seconds === undefined ? Infinity : seconds * 1_000;
      this.#token = { token, endsAtMs: this.#options.now() + Math.max(lifetimeMs - marginMs, lifetimeMs / 2) };
      return this.#token;
    } catch (error) {
      throw new NotSent(`There is no access token for the MCP server: ${problemOf(error)}`);
    } finally {
      deadline.clear();
    }
  }

  async #clientCredentials(signal: AbortSignal): Promise<TokenEndpointResponse> {
    const { server, client, authentication, params, terms } = this.#terms(signal);
    const answer = await clientCredentialsGrantRequest(server, client, authentication, params, terms);
    return await processClientCredentialsResponse(server, client, answer);
  }

  async #refresh(configured: Configured, signal: AbortSignal): Promise<TokenEndpointResponse> {
    const { refreshTokens } = this.#options;
    const { server, client, authentication, params, terms } = this.#terms(signal);
    const token = await this.#claimed(configured, signal);
    let next: string | null = null;
    try {
      const more = { ...terms, additionalParameters: params };
      const answer = await refreshTokenGrantRequest(server, client, authentication, token, more);
      const issued = await processRefreshTokenResponse(server, client, answer);
      next = issued.refresh_token ?? null;
      return issued;
    } finally {
      await refreshTokens.release(configured, next);
    }
  }

  async #claimed(configured: Configured, signal: AbortSignal): Promise<string> {
    for (;;) {
      const claimed = await this.#options.refreshTokens.claim(configured);
      if (claimed !== null) return claimed.token;
      await delay(leaseWaitMs, undefined, { signal, ref: false });
    }
  }

  #terms(signal: AbortSignal) {
    const { token_url: tokenUrl, client_id: clientId, scope } = this.#oauth;
    return {
      server: { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl },
      client: { client_id: clientId },
      authentication: authenticationOf(this.#oauth),
      params: new URLSearchParams({ resource: this.#resource, ...(scope === undefined ? {} : { scope }) }),
      terms: {
        signal,
        [customFetch]: tokenFetch(this.#options.agent),
        // The server's configuration decides whether an address without TLS is permitted.
        [allowInsecureRequests]: true,
      },
    };
  }
}

/** The access tokens for a server. `null` for a server that needs no tokens, but only its configured headers. */
export function upstreamTokens({ config, ...options }: TokenOptions): UpstreamTokens | null {
  if (config.transport !== 'http' || config.oauth === undefined) return null;
  const { origin, pathname } = new URL(config.url);
  return new UpstreamTokens({ ...options, oauth: config.oauth, resource: `${origin}${pathname}` });
}

/**
 * Adds the token to requests. After HTTP 401, a request other than a call is repeated once with a new token. A call is
 * repeated by its connection.
 */
export function withBearer(tokens: UpstreamTokens, fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const send = (token: string) => {
      const headers = { ...Object.fromEntries(new Headers(init?.headers)), authorization: `Bearer ${token}` };
      return fetch(url, { ...init, headers });
    };
    const token = await tokens.bearer();
    try {
      const answer = await send(token);
      if (answer.status !== 401) return answer;
    } catch (error) {
      if (error instanceof Unauthorized) tokens.refuse(token);
      throw error;
    }
    tokens.refuse(token);
    return await send(await tokens.bearer());
  };
}

function authenticationOf({ client_secret: secret, auth_method: method }: UpstreamOauth): ClientAuth {
  if (secret === undefined) return None();
  return method === 'client_secret_post' ? ClientSecretPost(secret) : ClientSecretBasic(secret);
}

/** Uses the same pooled and checked connections as the calls of the server. */
function tokenFetch(agent: Dispatcher) {
  const fetch = pooledFetch(agent, { bytesMax: responseBytesMax, reportOf: (message) => message });
  return async (url: string, { method, headers, body, signal }: TokenRequest): Promise<Response> => {
    const answer = await fetch(url, { method, headers, body: String(body), signal: signal ?? null });
    return new Response(await answer.text(), { status: answer.status, headers: answer.headers });
  };
}

type TokenRequest = {
  method: string;
  headers: Record<string, string>;
  body: unknown;
  signal?: AbortSignal | undefined;
};

/** Reports an error of the authorization server by its code only, since its text may repeat secrets. */
function problemOf(error: unknown): string {
  if (error instanceof ResponseBodyError && /^[a-z_]{1,64}$/.test(error.error))
    return `the authorization server answered ${error.error}`;
  if (error instanceof WWWAuthenticateChallengeError)
    return `the authorization server refused the client credentials (HTTP ${error.status})`;
  return error instanceof Error && error.name === 'TimeoutError'
    ? 'the authorization server does not answer'
    : 'the authorization server cannot be reached, or its answer is malformed';
}
