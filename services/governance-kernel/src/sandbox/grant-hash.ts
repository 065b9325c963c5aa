import type { Digest } from '@countersign/contracts';
import { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf, parsePlainJson, type CryptoProvider } from '@countersign/crypto';

/** Two grants with the same terms have the same hash, for every owner. */
export function grantHash(provider: CryptoProvider, terms: SandboxTerms): Digest {
  return digestOf(provider, canonicalBytes(parsePlainJson(terms))) as Digest; // digestOf writes exactly this form
}

/** The terms of a command that a tenant added without a grant: a folder of its own, the variables of its configuration, and nothing else. */
export function defaultTerms(env: readonly string[]): SandboxTerms {
  return SandboxTerms.parse({ env: [...env].sort() });
}
