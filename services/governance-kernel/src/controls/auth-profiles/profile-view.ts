import { sha256Of, instantOf, type PlainJson } from '@countersign/contracts';
import type { AuthProfile } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, type CryptoProvider } from '@countersign/crypto';
import type { ProfileRow } from './auth-profiles.ts';

export function profileView(
  provider: CryptoProvider,
  { id, tenant, terms, setBy, updatedAtMs }: ProfileRow,
): AuthProfile {
  const hash = (value: PlainJson) => sha256Of(provider, canonicalBytes(value));
  return {
    ...{ profile_id: id, tenant_id: tenant, ...terms },
    tool_scope_hash: hash(terms.tool_scopes),
    profile_hash: hash(terms),
    set_by: setBy,
    updated_at: instantOf(updatedAtMs),
  };
}
