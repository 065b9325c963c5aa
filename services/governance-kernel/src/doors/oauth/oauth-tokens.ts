import { AppError, PrincipalId, startDeadline, TenantId } from '@countersign/contracts';
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';

export type OauthSettings = {
  issuer: string;
  /** The address of the issuer's keys. `null` when it is read from the metadata of the issuer. */
  jwksUrl: string | null;
  /** The resource identifier of `/mcp`, for which a token must be issued (RFC 8707). */
  resource: string;
  /** The scopes that every token needs. */
  scopes: readonly string[];
  /** The claim that contains the tenant. */
  tenantClaim: string;
};

export type OauthCaller = {
  tenant: TenantId;
  principal: PrincipalId;
  scopes: string[];
  clientId: string | null;
};

type Deps = OauthSettings & { clock: () => Date };
type Entry = { caller: OauthCaller; endsAtMs: number };

/** Only asymmetric algorithms: a key shared with the issuer could sign as the issuer. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const clockSkewSeconds = 60;
const fetchMsMax = 5_000;
const tokensKnownMax = 10_000;

/** Access tokens of one authorization server. Each is verified once and cached until it expires. */
export class OauthTokens {
  readonly #deps: Deps;
  readonly #cache = new Map<string, Entry>();
  #keys: Promise<JWTVerifyGetKey> | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * The caller of a token (attacker-controlled). Throws CREDENTIALS_INVALID for a token that is not valid here, and
   * UPSTREAM_FAILED when the keys of the issuer cannot be read.
   */
  async verify(text: string): Promise<OauthCaller> {
    const existing = this.#cache.get(text);
    if (existing !== undefined && this.#deps.clock().getTime() < existing.endsAtMs) return existing.caller;
    const verified = await this.#verified(text);
    if (this.#cache.size >= tokensKnownMax) this.#cache.clear();
    this.#cache.set(text, verified);
    return verified.caller;
  }

  async #verified(text: string): Promise<Entry> {
    const { issuer, resource, clock } = this.#deps;
    const keys = await this.#issuersKeys();
    const options = {
      ...{ issuer, algorithms, audience: resource, clockTolerance: clockSkewSeconds, currentDate: clock() },
      requiredClaims: ['exp', 'sub'],
    };
    const { payload } = await jwtVerify(text, keys, options).catch((cause: unknown) => {
      throw faultOf(cause);
    });
    return { caller: this.#callerOf(payload), endsAtMs: (payload.exp ?? 0) * 1_000 };
  }

  #callerOf(payload: JWTPayload): OauthCaller {
    const { tenantClaim } = this.#deps;
    const claims = Claims.safeParse({ ...payload, tenant: payload[tenantClaim] });
    if (!claims.success) throw invalid(`The access token has no valid ${tenantClaim}, sub or scope`);
    const { tenant, sub: principal, scope, scp, client_id: client, azp } = claims.data;
    return { tenant, principal, scopes: [...new Set([...scope, ...scp])], clientId: client ?? azp ?? null };
  }

  async #issuersKeys(): Promise<JWTVerifyGetKey> {
    this.#keys ??= this.#findKeys();
    try {
      return await this.#keys;
    } catch (cause) {
      this.#keys = null;
      throw unreachable(cause);
    }
  }

  async #findKeys(): Promise<JWTVerifyGetKey> {
    const { jwksUrl, issuer } = this.#deps;
    const url = jwksUrl ?? (await jwksOf(issuer));
    return createRemoteJWKSet(new URL(url), { timeoutDuration: fetchMsMax });
  }
}

/**
 * Reads the address of the keys in the issuer's metadata (RFC 8414 §3). Older servers have the same document elsewhere.
 */
async function jwksOf(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of places) {
    const metadata = Metadata.safeParse(await documentAt(place));
    if (metadata.success && metadata.data.issuer === issuer) return metadata.data.jwks_uri;
  }
  throw new Error('The issuer publishes no metadata of its own name');
}

/** `null` when the server answers with an error status. */
async function documentAt(place: string): Promise<unknown> {
  const deadline = startDeadline({ ms: fetchMsMax });
  try {
    const answer = await fetch(place, { signal: deadline.signal, redirect: 'error' });
    return answer.ok ? await answer.json() : null;
  } finally {
    deadline.clear();
  }
}

const Metadata = z.looseObject({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

const scopeList = z
  .union([z.string().transform((text) => text.split(' ').filter((scope) => scope !== '')), z.array(z.string())])
  .default([]);
const Claims = z.looseObject({
  tenant: TenantId,
  sub: PrincipalId,
  scope: scopeList,
  /** Some servers use the name `scp` instead of `scope`. */
  scp: scopeList,
  client_id: z.string().max(128).optional(),
  azp: z.string().max(128).optional(),
});

function faultOf(cause: unknown): AppError {
  if (cause instanceof errors.JWTExpired) return invalid('The access token has expired', cause);
  if (cause instanceof errors.JWTClaimValidationFailed)
    return invalid(`The access token is not for this server: ${cause.claim} does not fit`, cause);
  const isOfToken =
    cause instanceof errors.JWSInvalid ||
    cause instanceof errors.JWTInvalid ||
    cause instanceof errors.JOSEAlgNotAllowed;
  const isOfKey = cause instanceof errors.JWSSignatureVerificationFailed || cause instanceof errors.JWKSNoMatchingKey;
  return isOfToken || isOfKey ? invalid('The access token is not signed by its issuer', cause) : unreachable(cause);
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError('CREDENTIALS_INVALID', message, { cause });
}

function unreachable(cause: unknown): AppError {
  return new AppError('UPSTREAM_FAILED', 'The keys of the authorization server cannot be read', { cause });
}
