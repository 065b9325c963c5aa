import { sha256Of, type Digest, type GateName, type PlainJson } from '@countersign/contracts';
import type { RecordedIntent } from '@countersign/contracts/governance-kernel';
import {
  canonicalString,
  canonicalize,
  concatBytes,
  decodeHex,
  leafHash,
  utf8Bytes,
  type CryptoProvider,
} from '@countersign/crypto';
import { plain, quotedOrNull } from './json-text.ts';

/** Text is hashed as UTF-8. */
export function digest(provider: CryptoProvider, data: Uint8Array | string): Digest {
  return sha256Of(provider, data);
}

/**
 * Salted with a secret of the tenant. Receipts are public, and most arguments have so little entropy that they could be
 * guessed.
 */
export function argsHash(provider: CryptoProvider, salt: Uint8Array, args: Record<string, PlainJson>): Digest {
  return hashedArguments(provider, salt, args).hash;
}

/** `args_hash`, and the number of bytes of the canonical JSON of the arguments. */
export function hashedArguments(
  provider: CryptoProvider,
  salt: Uint8Array,
  args: Record<string, PlainJson>,
): { hash: Digest; bytes: number } {
  const text = utf8Bytes(canonicalize(args));
  return { hash: saltedBytesHash(provider, salt, text), bytes: text.length };
}

/**
 * The hash of the result of an action, salted like `args_hash`. Text is hashed as it is, and other values as canonical
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

/** The exact call to which an approval is bound. The declared effect of the tool is not a part of it. */
type NamedCall = Pick<RecordedIntent, 'action' | 'tool' | 'resource' | 'args_hash'> & {
  tenant: string;
  principal: string;
  session: string;
};

/** SHA-256 of the canonical JSON of all seven members of the call. */
export function intentHash(provider: CryptoProvider, call: NamedCall): Digest {
  return digest(
    provider,
    `{"action":${canonicalString(call.action)},"args_hash":"${plain(call.args_hash)}",` +
      `"principal":${canonicalString(call.principal)},"resource":${quotedOrNull(call.resource)},` +
      `"session":${canonicalString(call.session)},"tenant":${canonicalString(call.tenant)},` +
      `"tool":${quotedOrNull(call.tool)}}`,
  );
}

/**
 * SHA-256 of the canonical JSON of the names of the evaluated gates, in order. The list is empty if nothing was
 * decided.
 */
export function gateRosterHash(provider: CryptoProvider, gates: readonly GateName[]): Digest {
  return digest(provider, canonicalize([...gates]));
}

/**
 * The leaf of a receipt in the log. Its entry is the 32 bytes of the receipt hash, so it has the same size for all
 * receipts.
 */
export function receiptLeaf(provider: CryptoProvider, receiptHash: string): Uint8Array {
  return leafHash(provider, decodeHex(receiptHash.slice('sha256:'.length)));
}
