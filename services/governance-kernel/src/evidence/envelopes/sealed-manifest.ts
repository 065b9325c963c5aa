import { sha256Of } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, type CryptoProvider } from '@countersign/crypto';
import { VerificationError, verifyReceipt, type TrustedKeys } from '@countersign/verifier';
import type { EnvelopeRow } from '../../controls/evidence/evidence-envelopes.ts';
import { regardlessOfRevocation } from '../proof/trusted-keys.ts';

/** The resource of the receipt that seals a manifest. */
export const manifestResource = (id: string) => `evidence_envelope:${id}`;

/** The facts of the record that seals a manifest. Its receipt contains their hash. */
export function manifestFacts({
  manifestHash,
  nativeHash,
  form,
}: Pick<EnvelopeRow, 'manifestHash' | 'nativeHash' | 'form'>) {
  return { manifest_hash: manifestHash, native_evidence_hash: nativeHash, envelope: form };
}

type Trust = { trust: TrustedKeys; provider: CryptoProvider };

/** `isRevoked`: the key of the receipt was revoked, so the receipt alone proves no time. */
export type ManifestSeal = { issuedAtMs: number; isRevoked: boolean };

/** The seal of a manifest. `null` for a receipt that is missing, invalid, or of other contents. */
export function manifestSeal(
  row: Pick<EnvelopeRow, 'id' | 'tenant' | 'manifestHash' | 'nativeHash' | 'form'>,
  receipt: StoredReceipt | null,
  { trust, provider }: Trust,
): ManifestSeal | null {
  const { resource, tenant_id, kind, args_hash, issued_at } = receipt?.payload ?? {};
  if (resource !== manifestResource(row.id) || tenant_id !== row.tenant || kind !== 'trust') return null;
  if (args_hash !== sha256Of(provider, canonicalBytes(manifestFacts(row)))) return null;
  const verifies = (keys: TrustedKeys) => isValid(() => verifyReceipt(receipt, keys, provider));
  if (!verifies(regardlessOfRevocation(trust))) return null;
  return { issuedAtMs: Date.parse(issued_at ?? ''), isRevoked: !verifies(trust) };
}

function isValid(verification: () => unknown): boolean {
  try {
    verification();
    return true;
  } catch (error) {
    if (error instanceof VerificationError) return false;
    throw error;
  }
}
