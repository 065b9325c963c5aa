import { isIP } from 'node:net';
import { AppError } from '@countersign/contracts';
import type { Caller } from '../../call/governed-call.ts';
import type { PasskeyDeps } from './passkey-deps.ts';

/** The relying party as browsers see it: authenticators sign for this name, on pages of this origin. */
export type RelyingParty = { readonly id: string; readonly origin: string };

/**
 * The relying party at a public address. `null` where browsers do not support passkeys: at an IP address, and without
 * TLS except on localhost.
 */
function relyingPartyAt(publicUrl: string): RelyingParty | null {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || (protocol !== 'https:' && !isLocal)) return null;
  return { id: hostname, origin };
}

type Addresses = { publicUrl: string; consoleUrl: string | null };

/**
 * The relying parties of the kernel's pages and of the console, which may be the same. A passkey belongs to one name.
 * If the console has a different host name, the kernel's own pages request no passkeys.
 */
export function partiesAt({ publicUrl, consoleUrl }: Addresses): Pick<PasskeyDeps, 'party' | 'consoleParty'> {
  const own = relyingPartyAt(publicUrl);
  const consoleParty = consoleUrl === null ? own : relyingPartyAt(consoleUrl);
  const isOneName = consoleParty === null || own?.id === consoleParty.id;
  return { party: isOneName ? own : null, consoleParty };
}

/** The ceremonies for the page of this caller. People asserted by the gateway use the console. */
export function passkeysAt(passkeys: PasskeyDeps, { assertion }: Pick<Caller, 'assertion'>): PasskeyDeps {
  return assertion === undefined ? passkeys : { ...passkeys, party: passkeys.consoleParty };
}

/** Throws PASSKEYS_UNAVAILABLE. */
export function requireRelyingParty(party: RelyingParty | null): RelyingParty {
  if (party !== null) return party;
  throw new AppError(
    'PASSKEYS_UNAVAILABLE',
    'Passkeys are unavailable at this address. They need TLS and a host name, which must be that of the console if there is one. Ask the operator',
  );
}
