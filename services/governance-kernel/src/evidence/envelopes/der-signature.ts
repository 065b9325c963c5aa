import { concatBytes } from '@countersign/crypto';

const half = 32;

/** An ECDSA signature of P-256 as DER (RFC 3279 §2.2.3), which DSSE verifiers read. */
export function derSignature(signature: Uint8Array): Uint8Array {
  const body = concatBytes(derInteger(signature.subarray(0, half)), derInteger(signature.subarray(half)));
  return concatBytes(Uint8Array.of(0x30, body.length), body);
}

/** Removes leading zeros, and adds one when the first bit would make the number negative. */
function derInteger(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Uint8Array.of(0) : bytes.subarray(first);
  const signed = (digits[0] ?? 0) >= 0x80 ? concatBytes(Uint8Array.of(0), digits) : digits;
  return concatBytes(Uint8Array.of(0x02, signed.length), signed);
}
