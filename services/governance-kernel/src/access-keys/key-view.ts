import type { Instant } from '@countersign/contracts';
import type { AccessKey } from '@countersign/contracts/governance-kernel';
import type { AccessKeyRow } from './access-keys.ts';

/** The operator's view of a key: all but its secret. */
export function keyView(key: AccessKeyRow, lastUsedAtMs: number | null): AccessKey {
  return {
    key_id: key.id,
    kind: key.kind,
    principal_id: key.principal,
    prefix: key.prefix,
    doors: [...key.doors],
    tools: key.tools === null ? null : [...key.tools],
    expires_at: instant(key.expiresAtMs),
    created_at: instant(key.createdAtMs),
    created_by: key.createdBy,
    last_used_at: lastUsedAtMs === null ? null : instant(lastUsedAtMs),
    revoked_at: key.revokedAtMs === null ? null : instant(key.revokedAtMs),
  };
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
