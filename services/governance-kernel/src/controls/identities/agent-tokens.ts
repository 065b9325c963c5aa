import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import {
  AgentTokenClaims,
  AgentTokenHeader,
  agentTokenTerms,
  type KeyThumbprint,
} from '@countersign/contracts/governance-kernel';
import { decodeBase64Url } from '@countersign/crypto';
import {
  importedKey,
  signedTokenFault,
  signedTokenHeader,
  unprovenClaims,
  verifySignedToken,
} from '@countersign/service-kit';
import type { IdentityKeyRow } from './identity-keys.ts';

type Deps = {
  /** The required `aud` of a token. */
  audience: string;
  /** `null` for a key that is not enrolled, or if the key or its identity is revoked. */
  findLiveKey(key: { tenant: TenantId; kid: KeyThumbprint }): Promise<IdentityKeyRow | null>;
  clock: () => Date;
};

type ProvenAgent = { readonly tenant: TenantId; readonly principal: PrincipalId; readonly kid: KeyThumbprint };
type Entry = { readonly agent: ProvenAgent; readonly endsAtMs: number; readonly keyReadAtMs: number };

/**
 * How long a route may accept a token of a revoked key. A decision reads key and identity again, so it sees the
 * revocation at once.
 */
const keyAgeMaxMs = 1_000;
const tokensKnownMax = 10_000;

/** Verifies tokens that agents sign. Valid tokens are cached with the state of their keys for a short time. */
export class AgentTokens {
  readonly #deps: Deps;
  readonly #cache = new Map<string, Entry>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The caller of a token (attacker-controlled). Throws CREDENTIALS_INVALID for any fault of the token. */
  verify(text: string): ProvenAgent | Promise<ProvenAgent> {
    const existing = this.#cache.get(text);
    const nowMs = this.#deps.clock().getTime();
    if (existing !== undefined && nowMs < existing.endsAtMs && nowMs - existing.keyReadAtMs < keyAgeMaxMs)
      return existing.agent;
    return this.#verifyAnew(text);
  }

  async #verifyAnew(text: string): Promise<ProvenAgent> {
    const existing = await this.#proven(text);
    if (this.#cache.size >= tokensKnownMax) this.#cache.clear();
    this.#cache.set(text, existing);
    return existing.agent;
  }

  async #proven(text: string): Promise<Entry> {
    const now = this.#deps.clock();
    const { kid, claimed } = parsedToken(text);
    // A failure of the store is rethrown unchanged, since the token may be valid.
    const key = await this.#deps.findLiveKey({ tenant: claimed.tenant_id, kid });
    if (key === null || key.principal !== claimed.sub)
      throw invalid('The key of the agent token is not enrolled for this agent, or has ended');
    const { lifeSecondsMax } = agentTokenTerms;
    const imported = importedKey(decodeBase64Url(key.publicKey));
    const signed = await verifySignedToken(text, imported, { now, lifeSecondsMax }).catch((cause: unknown) => {
      throw invalid(signedTokenFault('agent token', cause, now), cause);
    });
    const { aud, exp } = parsedClaims(signed);
    if (aud !== this.#deps.audience)
      throw invalid('The agent token is meant for another kernel: aud is not the address of this kernel');
    const agent = { tenant: key.tenant, principal: key.principal, kid };
    return { agent, endsAtMs: exp * 1_000, keyReadAtMs: now.getTime() };
  }
}

function parsedToken(text: string) {
  try {
    const { kid } = AgentTokenHeader.parse(signedTokenHeader(text));
    return { kid, claimed: AgentTokenClaims.parse(unprovenClaims(text)) };
  } catch (cause) {
    throw invalid(malformed, cause);
  }
}

function parsedClaims(signed: unknown) {
  const parsed = AgentTokenClaims.safeParse(signed);
  if (!parsed.success) throw invalid(malformed, parsed.error);
  return parsed.data;
}

const malformed = `The agent token has a missing, unknown or invalid member, or is valid for more than ${agentTokenTerms.lifeSecondsMax} s`;

function invalid(message: string, cause?: unknown): AppError {
  return new AppError('CREDENTIALS_INVALID', message, { cause });
}
