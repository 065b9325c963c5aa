/**
 * The members in an order that follows from `seed` alone.
 * @template Member
 * @param {readonly Member[]} list
 * @param {string | number} seed
 * @returns {Member[]}
 */
export function shuffle(list, seed) {
  const places = list.map((_, index) => hash(`${seed} ${index}`));
  return list
    .map((_, index) => index)
    .sort((a, b) => places[a] - places[b])
    .map((index) => list[index]);
}

/** FNV-1a, and a last mixing that spreads texts which differ in their last letters only. */
function hash(text) {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ character.codePointAt(0), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 12)) >>> 0;
}
