import type { Digest, GateName, PlainJson } from '@countersign/contracts';
import type { RecordedIntent } from '@countersign/contracts/governance-kernel';
import {
  canonicalString,
  canonicalize,
  concatBytes,
  decodeHex,
  digestOf,
  leafHash,
  utf8Bytes,
  type CryptoProvider,
} from '@countersign/crypto';
import { plain, quotedOrNull } from './json-text.ts';

/** A text is hashed as its UTF-8 bytes. */
export function digest(provider: CryptoProvider, data: Uint8Array | string): Digest {
  return digestOf(provider, data) as Digest; // digestOf writes exactly this form
}

/** Salted with a secret of the tenant: a receipt is public, and few arguments have so much entropy that they cannot be guessed. */
export function argsHash(provider: CryptoProvider, salt: Uint8Array, args: Record<string, PlainJson>): Digest {
  return saltedHash(provider, salt, canonicalize(args));
}

/**
 * The hash of an action's answer. Salted for the same reason. A text counts as it is, any other value as its canonical
 * JSON.
 */
export function outputHash(provider: CryptoProvider, salt: Uint8Array, output: PlainJson): Digest {
  return saltedHash(provider, salt, typeof output === 'string' ? output : canonicalize(output));
}

function saltedHash(provider: CryptoProvider, salt: Uint8Array, text: string): Digest {
  return saltedBytesHash(provider, salt, utf8Bytes(text));
}

export function saltedBytesHash(provider: CryptoProvider, salt: Uint8Array, bytes: Uint8Array): Digest {
  return digest(provider, concatBytes(salt, bytes));
}

/** Who wants what, exactly: the call that an approval is bound to. Whatever the call's effect is declared to be, it is the same call. */
type NamedCall = Pick<RecordedIntent, 'action' | 'tool' | 'resource' | 'args_hash'> & {
  tenant: string;
  principal: string;
  session: string;
};

/** SHA-256 of the canonical JSON of these seven members. */
export function intentHash(provider: CryptoProvider, call: NamedCall): Digest {
  return digest(
    provider,
    `{"action":${canonicalString(call.action)},"args_hash":"${plain(call.args_hash)}",` +
      `"principal":${canonicalString(call.principal)},"resource":${quotedOrNull(call.resource)},` +
      `"session":${canonicalString(call.session)},"tenant":${canonicalString(call.tenant)},` +
      `"tool":${quotedOrNull(call.tool)}}`,
  );
}

/** SHA-256 of the canonical JSON of the names of the gates that judged, in order; of an empty list where nothing was decided. */
export function gateRosterHash(provider: CryptoProvider, gates: readonly GateName[]): Digest {
  return digest(provider, canonicalize([...gates]));
}

/** The leaf of a receipt in the log. Its entry is the 32 bytes behind the hash, so that it stays small whatever the receipt holds. */
export function receiptLeaf(provider: CryptoProvider, receiptHash: string): Uint8Array {
  return leafHash(provider, decodeHex(receiptHash.slice('sha256:'.length)));
}
