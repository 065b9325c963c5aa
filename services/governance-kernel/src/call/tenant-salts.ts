import { concatBytes, utf8Bytes, type CryptoProvider } from '@countersign/crypto';

/** Above this number of tenants in one process, salts are derived again when needed. */
const saltsCachedMax = 10_000;

/**
 * One secret salt per tenant, derived from the kernel's secret. Equal arguments of two tenants have different hashes.
 */
export function tenantSalts(provider: CryptoProvider, secret: string): (tenant: string) => Uint8Array {
  const root = provider.sha256(utf8Bytes(secret));
  const existing = new Map<string, Uint8Array>();
  return (tenant) => {
    const cached = existing.get(tenant);
    if (cached !== undefined) return cached;
    if (existing.size >= saltsCachedMax) existing.clear();
    // Root and result are secret and of fixed length, so a plain hash is as good as an HMAC here.
    const salt = provider.sha256(concatBytes(root, utf8Bytes(tenant)));
    existing.set(tenant, salt);
    return salt;
  };
}
