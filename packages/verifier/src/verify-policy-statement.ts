import { PolicyStatementFacts } from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord, PackPolicy } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { activationBytes } from '@countersign/receipts';
import { parseUntrusted } from './parse-untrusted.ts';
import { assertInWindow, assertNotRevoked, findKey, isLater } from './trusted-keys.ts';
import type { Sighting, TrustedKey, TrustedKeys } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import { assertSignature } from './verify-receipt.ts';

const statedBy = new Set(['policy.change', 'policy.confirm']);
const resourcePrefix = 'policy:';

type Trust = { trust: TrustedKeys; provider: CryptoProvider; seen: Sighting | null };

/**
 * Checks a record of an activated or confirmed policy. A trusted policy key must have signed the stated time, for this
 * tenant, bundle and epoch. Returns the key. `null` for other records, and for those without a time. Throws {@link
 * VerificationError}: `MALFORMED`, `KEY_UNKNOWN`, `KEY_NOT_VALID_YET`, `KEY_EXPIRED`, `KEY_REVOKED`,
 * `SIGNATURE_INVALID`, `TIME_MISMATCH`.
 */
export function assertPolicyStatement(record: BoundaryRecord, { trust, provider, seen }: Trust): TrustedKey | null {
  const { kind, intent, policy_hash: policyHash, policy_epoch: epoch } = record;
  if (kind !== 'policy' || !statedBy.has(intent.action) || Object.keys(intent.facts).length === 0) return null;
  const { confirmed_at, signature } = parseUntrusted(PolicyStatementFacts, intent.facts, 'policy statement');
  const { resource } = intent;
  if (policyHash === null || resource?.startsWith(resourcePrefix) !== true)
    throw new VerificationError('MALFORMED', 'the policy statement lacks its tenant or its bundle');
  const key = findKey(trust, { keyId: signature.key_id, purpose: 'policies' });
  assertInWindow(key, confirmed_at);
  assertNotRevoked(key, { claimed: confirmed_at, seen });
  const tenant = resource.slice(resourcePrefix.length);
  const statement = activationBytes({ tenant, epoch, policyHash, confirmedAt: confirmed_at }); // parsed above
  assertSignature(key, { signed: statement, signature }, provider);
  assertConfirmedBefore(record.created_at, confirmed_at);
  return key;
}

/** Kernels accept no confirmation from the future, except for the difference of clocks. Throws `TIME_MISMATCH`. */
function assertConfirmedBefore(used: string, confirmedAt: string): void {
  if (!isLater(confirmedAt, used)) return;
  const problem = `the policy was confirmed at ${confirmedAt}, but it was used at ${used}`;
  throw new VerificationError('TIME_MISMATCH', problem);
}

/**
 * Checks a policy in a pack, like the policy of a record. The key of the first receipt that refers to the policy proves
 * the time of the activation. Returns the policy key. Throws like `assertPolicyStatement`.
 */
export function assertPolicyActivation(
  { policy }: PackPolicy,
  { trust, provider, seen }: Trust & { seen: Sighting },
): TrustedKey {
  const { tenant_id: tenant, epoch, policy_hash: policyHash, confirmed_at: confirmedAt, signature } = policy;
  const key = findKey(trust, { keyId: signature.key_id, purpose: 'policies' });
  assertInWindow(key, confirmedAt);
  assertNotRevoked(key, { claimed: confirmedAt, seen });
  assertSignature(key, { signed: activationBytes({ tenant, epoch, policyHash, confirmedAt }), signature }, provider);
  assertConfirmedBefore(seen.time, confirmedAt);
  return key;
}
