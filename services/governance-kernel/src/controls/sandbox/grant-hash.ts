import { sha256Of, type Digest } from '@countersign/contracts';
import { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, parsePlainJson, type CryptoProvider } from '@countersign/crypto';

/** The hash covers only the terms, so grants with the same terms have the same hash. */
export function grantHash(provider: CryptoProvider, terms: SandboxTerms): Digest {
  return sha256Of(provider, canonicalBytes(parsePlainJson(terms)));
}

/**
 * The terms of a tenant's command without a grant: its own folder, the variables of its configuration, and nothing
 * else.
 */
export function defaultTerms(env: readonly string[]): SandboxTerms {
  return SandboxTerms.parse({ env: [...env].sort() });
}
