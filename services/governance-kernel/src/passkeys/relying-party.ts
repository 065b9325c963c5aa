import { isIP } from 'node:net';
import { AppError } from '@countersign/contracts';
import type { Caller } from '../call/governed-call.ts';
import type { PasskeyParts } from './passkey-parts.ts';

/** Who asks for passkeys, as browsers see it: authenticators sign for this name, from pages of this origin. */
export type RelyingParty = { readonly id: string; readonly origin: string };

/**
 * The relying party at an address that people reach. Null where browsers have no passkeys: at an IP address, and
 * without TLS anywhere but on localhost.
 */
function relyingPartyAt(publicUrl: string): RelyingParty | null {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || (protocol !== 'https:' && !isLocal)) return null;
  return { id: hostname, origin };
}

type Addresses = { publicUrl: string; consoleUrl: string | null };

/**
 * Who asks on the kernel's own pages, and who in the console, which may be the same. A passkey is for one name: where the console has
 * another than the kernel, the kernel's own pages ask for none.
 */
export function partiesAt({ publicUrl, consoleUrl }: Addresses): Pick<PasskeyParts, 'party' | 'consoleParty'> {
  const own = relyingPartyAt(publicUrl);
  const consoleParty = consoleUrl === null ? own : relyingPartyAt(consoleUrl);
  const isOneName = consoleParty === null || own?.id === consoleParty.id;
  return { party: isOneName ? own : null, consoleParty };
}

/** The ceremonies as the page of this caller runs them: people whom the gateway proves sit at the console. */
export function passkeysAt(passkeys: PasskeyParts, { assertion }: Pick<Caller, 'assertion'>): PasskeyParts {
  return assertion === undefined ? passkeys : { ...passkeys, party: passkeys.consoleParty };
}

/** Throws PASSKEYS_UNAVAILABLE. */
export function requireRelyingParty(party: RelyingParty | null): RelyingParty {
  if (party !== null) return party;
  throw new AppError(
    'PASSKEYS_UNAVAILABLE',
    'Browsers have no passkeys at the address that this kernel is reached by: it is an IP address, or has no TLS',
  );
}
