import { concatBytes, utf8Bytes, type CryptoProvider } from '@countersign/crypto';

/** More tenants than this in one process are derived again when they come back. */
const saltsCachedMax = 10_000;

/** One secret salt per tenant, derived from the kernel's secret: the same arguments hash differently for different tenants. */
export function tenantSalts(provider: CryptoProvider, secret: string): (tenant: string) => Uint8Array {
  const root = provider.sha256(utf8Bytes(secret));
  const known = new Map<string, Uint8Array>();
  return (tenant) => {
    const cached = known.get(tenant);
    if (cached !== undefined) return cached;
    if (known.size >= saltsCachedMax) known.clear();
    // Root and result have fixed lengths and are secret, so a plain hash derives as well as an HMAC here.
    const salt = provider.sha256(concatBytes(root, utf8Bytes(tenant)));
    known.set(tenant, salt);
    return salt;
  };
}
