/**
 * PostgreSQL's binary form of a one-dimensional array (array_send in the server's arrayfuncs.c). The driver would
 * write the text form, which escapes every quote of the JSON and makes the server undo that. That would be half of the
 * cost of sealing.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  let bytesMax = 0;
  for (const value of values) bytesMax += lengthBytes + (value === null ? 0 : roomFor(value));
  const { buffer, start } = arrayOf(textOid, values, bytesMax);
  let at = start;
  for (const value of values) {
    const length = value === null ? 0 : buffer.write(value, at + lengthBytes);
    buffer.writeInt32BE(value === null ? nullLength : length, at);
    at += lengthBytes + length;
  }
  return buffer.subarray(0, at);
}

/** An array of bigint. */
export function bigintArray(values: readonly number[]): Buffer {
  const { buffer, start } = arrayOf(bigintOid, values, values.length * (lengthBytes + bigintBytes));
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
/** A UTF-16 code unit is written as at most this many bytes. */
const utf8BytesMax = 3;
const shortText = 4_096;

/** Measuring a short text would take as long as writing it. For a long one, the room would be too large. */
function roomFor(value: string): number {
  return value.length < shortText ? value.length * utf8BytesMax : Buffer.byteLength(value);
}

/** A buffer with the array header, and room for the elements with their lengths. */
function arrayOf(elementOid: number, values: readonly unknown[], elementBytesMax: number) {
  const isEmpty = values.length === 0;
  const start = isEmpty ? 3 * lengthBytes : 5 * lengthBytes;
  const buffer = Buffer.allocUnsafe(start + elementBytesMax);
  buffer.writeInt32BE(isEmpty ? 0 : 1, 0); // dimensions
  buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  buffer.writeInt32BE(elementOid, 8);
  if (isEmpty) return { buffer, start };
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16); // first index
  return { buffer, start };
}
