type ChangedByte = { pack: string; line: number; from: string; to: string };

/**
 * The pack with one changed byte: a digit in the record hash of the middle receipt. `null` for a pack without receipts.
 * The same pack is always changed at the same place.
 */
export function changeOneByte(pack: string): ChangedByte | null {
  const places = [...pack.matchAll(/"record_hash":"sha256:(?=[0-9a-f])/g)].map(
    ({ index, 0: { length } }) => index + length,
  );
  const at = places[Math.floor(places.length / 2)];
  if (at === undefined) return null;
  const from = pack.charAt(at);
  const to = from === '0' ? '1' : '0';
  const line = pack.slice(0, at).split('\n').length;
  return { pack: pack.slice(0, at) + to + pack.slice(at + 1), line, from, to };
}
