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

type Parts = {
  /** The `aud` that a token must name. */
  audience: string;
  /** Null for one that is not enrolled, or that has ended with its identity or by itself. */
  findLiveKey(key: { tenant: TenantId; kid: KeyThumbprint }): Promise<IdentityKeyRow | null>;
  clock: () => Date;
};

type ProvenAgent = { readonly tenant: TenantId; readonly principal: PrincipalId; readonly kid: KeyThumbprint };
type Known = { readonly agent: ProvenAgent; readonly endsAtMs: number; readonly keyReadAtMs: number };

/**
 * How long a door may take a token under a revoked key. A decision under it sees the revocation at once all the same,
 * since it reads key and identity again.
 */
const keyAgeMaxMs = 1_000;
const tokensKnownMax = 10_000;

/** The tokens that agents sign. Each is verified once and remembered while it and what is known of its key are young. */
export class AgentTokens {
  readonly #parts: Parts;
  readonly #known = new Map<string, Known>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Who calls. `text` is attacker-controlled. Throws CREDENTIALS_INVALID for whatever is not in all its parts as it has to be. */
  verify(text: string): ProvenAgent | Promise<ProvenAgent> {
    const known = this.#known.get(text);
    const nowMs = this.#parts.clock().getTime();
    if (known !== undefined && nowMs < known.endsAtMs && nowMs - known.keyReadAtMs < keyAgeMaxMs) return known.agent;
    return this.#verifyAnew(text);
  }

  async #verifyAnew(text: string): Promise<ProvenAgent> {
    const known = await this.#proven(text);
    if (this.#known.size >= tokensKnownMax) this.#known.clear();
    this.#known.set(text, known);
    return known.agent;
  }

  async #proven(text: string): Promise<Known> {
    const now = this.#parts.clock();
    const { kid, claimed } = parsedToken(text);
    // A store that is down is no fault of the token.
    const key = await this.#parts.findLiveKey({ tenant: claimed.tenant_id, kid });
    if (key === null || key.principal !== claimed.sub)
      throw invalid('The key of the agent token is not enrolled for this agent, or has ended');
    const { lifeSecondsMax } = agentTokenTerms;
    const imported = importedKey(decodeBase64Url(key.publicKey));
    const signed = await verifySignedToken(text, imported, { now, lifeSecondsMax }).catch((cause: unknown) => {
      throw invalid(signedTokenFault('agent token', cause, now), cause);
    });
    const { aud, exp } = parsedClaims(signed);
    if (aud !== this.#parts.audience)
      throw invalid('The agent token is meant for another kernel: aud is not its address');
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

const malformed = `The agent token lacks a part, has one too many or lives for more than ${agentTokenTerms.lifeSecondsMax} s`;

function invalid(message: string, cause?: unknown): AppError {
  return new AppError('CREDENTIALS_INVALID', message, { cause });
}
