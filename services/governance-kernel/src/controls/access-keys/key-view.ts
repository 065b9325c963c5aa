import { instantOrNull, instantOf } from '@countersign/contracts';
import type { AccessKey } from '@countersign/contracts/governance-kernel';
import type { AccessKeyRow } from './access-keys.ts';

/** The operator's view of a key, without its secret. */
export function keyView(key: AccessKeyRow, lastUsedAtMs: number | null): AccessKey {
  return {
    key_id: key.id,
    kind: key.kind,
    principal_id: key.principal,
    prefix: key.prefix,
    doors: [...key.doors],
    tools: key.tools === null ? null : [...key.tools],
    expires_at: instantOf(key.expiresAtMs),
    created_at: instantOf(key.createdAtMs),
    created_by: key.createdBy,
    last_used_at: instantOrNull(lastUsedAtMs),
    revoked_at: instantOrNull(key.revokedAtMs),
  };
}
