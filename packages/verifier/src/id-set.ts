/** Crockford's base 32, the alphabet of ULIDs. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const valueOf = new Uint8Array(128);
for (const [value, letter] of [...letters].entries()) valueOf[letter.charCodeAt(0)] = value;

const firstRoom = 1_024;
const wordsOfId = 4;
const [bitsOfId, bitsOfLetter] = [128, 5];

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
  /** The 128 bits of the last id that was read. */
  readonly #id = new Uint32Array(wordsOfId);
  /** Whether the set contains the id of zeros, which looks like a free place. */
  #hasZero = false;

  get size(): number {
    return this.#size + Number(this.#hasZero);
  }

  has(id: string): boolean {
    this.#read(id);
    return isZero(this.#id, 0) ? this.#hasZero : !isZero(this.#words, this.#findPlace());
  }

  add(id: string): void {
    this.#read(id);
    if (isZero(this.#id, 0)) this.#hasZero = true;
    else this.#put();
  }

  /** The 128 bits of a ULID. Its first letter contains three of them, and each of the other 25 letters contains five. */
  #read(id: string): void {
    const words = this.#id.fill(0);
    const start = id.indexOf('_') + 1;
    let bit = 0;
    for (let at = id.length - 1; at >= start && bit < bitsOfId; at -= 1) {
      const value = valueOf[id.charCodeAt(at)] ?? 0;
      const word = wordsOfId - 1 - (bit >> 5);
      const shift = bit & 31;
      words[word] = (words[word] ?? 0) | (value << shift);
      // Five bits from the bit 28 on reach into the next word.
      if (shift > 27 && word > 0) words[word - 1] = value >>> (32 - shift);
      bit += bitsOfLetter;
    }
  }

  #put(): void {
    const place = this.#findPlace();
    if (!isZero(this.#words, place)) return;
    this.#words.set(this.#id, place);
    this.#size += 1;
    if (this.#size * 2 > this.#room) this.#grow();
  }

  /** The place of the id, or a free place for it. At most half of the places are taken, so a free place exists. */
  #findPlace(): number {
    const [words, id] = [this.#words, this.#id];
    let hash = this.#seed;
    for (const word of id) hash = Math.imul(hash ^ word ^ (hash >>> 15), 0x9e37_79b1);
    for (let at = (hash >>> 0) % this.#room; ; at = (at + 1) % this.#room) {
      const place = at * wordsOfId;
      if (isZero(words, place) || isEqual(words, { place, id })) return place;
    }
  }

  #grow(): void {
    const before = this.#words;
    this.#room *= 2;
    this.#words = new Uint32Array(this.#room * wordsOfId);
    this.#size = 0;
    for (let place = 0; place < before.length; place += wordsOfId) {
      if (isZero(before, place)) continue;
      this.#id.set(before.subarray(place, place + wordsOfId));
      this.#put();
    }
  }
}

function isZero(words: Uint32Array, place: number): boolean {
  return words[place] === 0 && words[place + 1] === 0 && words[place + 2] === 0 && words[place + 3] === 0;
}

function isEqual(words: Uint32Array, { place, id }: { place: number; id: Uint32Array }): boolean {
  return (
    words[place] === id[0] && words[place + 1] === id[1] && words[place + 2] === id[2] && words[place + 3] === id[3]
  );
}
