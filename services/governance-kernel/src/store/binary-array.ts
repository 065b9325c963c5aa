/**
 * PostgreSQL's binary form of a one-dimensional array (array_send in the server's arrayfuncs.c). The driver would
 * write the text form, which escapes every quote of the JSON and makes the server undo that. That would be half of the
 * cost of sealing.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  const lengths = values.map((value) => (value === null ? 0 : Buffer.byteLength(value)));
  const { buffer, start } = arrayOf(textOid, values, lengths);
  let at = start;
  for (const [index, value] of values.entries()) {
    const length = lengths[index] ?? 0;
    at = buffer.writeInt32BE(value === null ? nullLength : length, at);
    if (value !== null) buffer.write(value, at);
    at += length;
  }
  return buffer;
}

/** An array of bigint. */
export function bigintArray(values: readonly number[]): Buffer {
  const { buffer, start } = arrayOf(bigintOid, values, null);
  let at = start;
  for (const value of values) {
    at = buffer.writeInt32BE(bigintBytes, at);
    at = buffer.writeBigInt64BE(BigInt(value), at);
  }
  return buffer;
}

// pg_type.dat
const textOid = 25;
const bigintOid = 20;
const bigintBytes = 8;
const nullLength = -1;
const lengthBytes = 4;

/** A buffer of the right size with the array header. `lengths` is `null` for bigints. */
function arrayOf(elementOid: number, values: readonly unknown[], lengths: readonly number[] | null) {
  const isEmpty = values.length === 0;
  const elementBytes =
    lengths === null ? values.length * bigintBytes : lengths.reduce((sum, length) => sum + length, 0);
  const start = isEmpty ? 3 * lengthBytes : 5 * lengthBytes;
  const buffer = Buffer.allocUnsafe(start + values.length * lengthBytes + elementBytes);
  buffer.writeInt32BE(isEmpty ? 0 : 1, 0); // dimensions
  buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  buffer.writeInt32BE(elementOid, 8);
  if (isEmpty) return { buffer, start };
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16); // first index
  return { buffer, start };
}
