import { isIP } from 'node:net';
import { AppError } from '@countersign/contracts';

/** Who asks for passkeys, as browsers see it: authenticators sign for this name, from pages of this origin. */
export type RelyingParty = { readonly id: string; readonly origin: string };

/**
 * The relying party at the address that people reach the kernel by. Null where browsers have no passkeys: at an IP address, and
 * without TLS anywhere but on localhost.
 */
export function relyingPartyAt(publicUrl: string): RelyingParty | null {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || (protocol !== 'https:' && !isLocal)) return null;
  return { id: hostname, origin };
}

/** Throws PASSKEYS_UNAVAILABLE. */
export function requireRelyingParty(party: RelyingParty | null): RelyingParty {
  if (party !== null) return party;
  throw new AppError(
    'PASSKEYS_UNAVAILABLE',
    'Browsers have no passkeys at the address that this kernel is reached by: it is an IP address, or has no TLS',
  );
}
