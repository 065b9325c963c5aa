import type { Digest, Instant, PlainJson } from '@countersign/contracts';
import type { AuthProfile } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf, type CryptoProvider } from '@countersign/crypto';
import type { ProfileRow } from './auth-profiles.ts';

export function profileView(
  provider: CryptoProvider,
  { id, tenant, terms, setBy, updatedAtMs }: ProfileRow,
): AuthProfile {
  const hash = (value: PlainJson) => digestOf(provider, canonicalBytes(value)) as Digest; // digestOf writes exactly this form
  return {
    ...{ profile_id: id, tenant_id: tenant, ...terms },
    tool_scope_hash: hash(terms.tool_scopes),
    profile_hash: hash(terms),
    set_by: setBy,
    updated_at: new Date(updatedAtMs).toISOString() as Instant, // toISOString writes exactly this form
  };
}
