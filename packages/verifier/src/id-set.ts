import { ulidOf } from '@countersign/receipts';

/** Crockford's base 32, the alphabet of ULIDs. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const valueOf = new Uint8Array(128);
for (const [value, letter] of [...letters].entries()) valueOf[letter.charCodeAt(0)] = value;

const firstRoom = 1_024;
const wordsOfId = 4;

/**
 * A set of prefixed ULIDs that stores the 128 bits of each and no text: 32 to 64 bytes per id. A set of strings could
 * keep the whole lines in memory that contain the ids. All ids have one prefix.
 */
export class IdSet {
  /** A secret odd number, so that a caller cannot choose ids that collide. */
  readonly #seed = Math.floor(Math.random() * 0x7fff_ffff) * 2 + 1;
  #room = firstRoom;
  #words = new Uint32Array(firstRoom * wordsOfId);
  #size = 0;
  /** Whether the set contains the id of zeros, which looks like a free place. */
  #hasZero = false;

  get size(): number {
    return this.#size + Number(this.#hasZero);
  }

  has(id: string): boolean {
    const words = wordsOf(id);
    return isZero(words) ? this.#hasZero : this.#isTaken(this.#placeOf(words));
  }

  add(id: string): void {
    const words = wordsOf(id);
    if (isZero(words)) this.#hasZero = true;
    else this.#put(words);
  }

  #put(words: Uint32Array): void {
    const place = this.#placeOf(words);
    if (this.#isTaken(place)) return;
    this.#words.set(words, place);
    this.#size += 1;
    if (this.#size * 2 > this.#room) this.#grow();
  }

  /** The place of the id, or a free place for it. At most half of the places are taken, so a free place exists. */
  #placeOf(words: Uint32Array): number {
    let hash = this.#seed;
    for (const word of words) hash = Math.imul(hash ^ word ^ (hash >>> 15), 0x9e37_79b1);
    for (let at = (hash >>> 0) % this.#room; ; at = (at + 1) % this.#room) {
      const place = at * wordsOfId;
      if (!this.#isTaken(place) || words.every((word, nth) => this.#words[place + nth] === word)) return place;
    }
  }

  #isTaken(place: number): boolean {
    return !isZero(this.#words.subarray(place, place + wordsOfId));
  }

  #grow(): void {
    const before = this.#words;
    this.#room *= 2;
    this.#words = new Uint32Array(this.#room * wordsOfId);
    this.#size = 0;
    for (let place = 0; place < before.length; place += wordsOfId) {
      const words = before.subarray(place, place + wordsOfId);
      if (!isZero(words)) this.#put(words);
    }
  }
}

function isZero(words: Uint32Array): boolean {
  return words.every((word) => word === 0);
}

/** The 128 bits of a ULID. Its first letter contains three of them, and each of the other 25 letters contains five. */
function wordsOf(id: string): Uint32Array {
  const words = new Uint32Array(wordsOfId);
  const text = ulidOf(id);
  for (let nth = 0; nth < text.length; nth += 1) {
    let carried = valueOf[text.charCodeAt(nth)] ?? 0;
    for (let word = wordsOfId - 1; word >= 0; word -= 1) {
      const shifted = (words[word] ?? 0) * 32 + carried;
      words[word] = shifted >>> 0;
      carried = Math.floor(shifted / 0x1_0000_0000);
    }
  }
  return words;
}
