import { decodeHex, encodeHex } from './hex.ts';

const publicKeyBytes = 32;
const signatureBytes = 64;

const fieldPrime = 2n ** 255n - 19n;
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;
const curveD = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const fieldPrimeBytes = littleEndianBytes(fieldPrime);
const groupOrderBytes = littleEndianBytes(groupOrder);

// y-coordinates of the eight points of small order, sign bit cleared. Under such a key, one signature fits many
// messages.
const smallOrderY = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);

/**
 * For enrolment: 32 bytes, canonical y (RFC 8032 §5.1.3), a point on the curve, not of small order. Decompression costs
 * about a millisecond. Verification decompresses the key itself, so it needs only {@link isAcceptableEncoding}.
 */
export function isAcceptablePublicKey(publicKey: Uint8Array): boolean {
  return isCanonicalLargeOrderKey(publicKey) && isOnCurve(publicKey);
}

/**
 * Rejects encodings that some libraries accept. node:crypto accepts small-order keys. tweetnacl accepts S ≥ L (RFC 8032
 * §5.1.7) and reduces y. This check runs before either library, so both libraries give the same answer.
 */
export function isAcceptableEncoding(publicKey: Uint8Array, signature: Uint8Array): boolean {
  return (
    signature.length === signatureBytes &&
    isBelow(signature.subarray(32), groupOrderBytes) &&
    isCanonicalLargeOrderKey(publicKey)
  );
}

function isCanonicalLargeOrderKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== publicKeyBytes) return false;
  const y = withoutSign(publicKey);
  return isBelow(y, fieldPrimeBytes) && !smallOrderY.has(encodeHex(y));
}

function withoutSign(publicKey: Uint8Array): Uint8Array {
  const y = Uint8Array.from(publicKey);
  y[31] = (y[31] ?? 0) & 0x7f;
  return y;
}

function isBelow(value: Uint8Array, bound: Uint8Array): boolean {
  // Stryker disable next-line ArithmeticOperator: Beyond the end, both values are read as zero and are equal.
  for (let index = bound.length - 1; index >= 0; index -= 1) {
    const difference = (value[index] ?? 0) - (bound[index] ?? 0);
    // Stryker disable next-line EqualityOperator: The difference is not zero here.
    if (difference !== 0) return difference < 0;
  }
  return false;
}

// x² = (y² − 1) / (d·y² + 1) has a root exactly if (y² − 1)·(d·y² + 1) is a square (Euler's criterion). A quotient is a
// square exactly if the product is a square.
function isOnCurve(publicKey: Uint8Array): boolean {
  const y = BigInt(`0x${encodeHex(withoutSign(publicKey).reverse())}`);
  const ySquared = (y * y) % fieldPrime;
  const product = ((ySquared - 1n) * (curveD * ySquared + 1n)) % fieldPrime;
  return power(product, (fieldPrime - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % fieldPrime;
    square = (square * square) % fieldPrime;
  }
  return result;
}

/** The little-endian bytes of a number. The number must have 64 hex digits. */
function littleEndianBytes(value: bigint): Uint8Array {
  return decodeHex(value.toString(16)).reverse();
}
