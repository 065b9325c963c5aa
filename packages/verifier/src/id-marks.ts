/** Crockford's base 32, the alphabet of ULIDs. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const valueOf = new Uint8Array(128);
for (const [value, letter] of [...letters].entries()) valueOf[letter.charCodeAt(0)] = value;

const firstRoom = 64;
const wordsOfId = 4;
const [bitsOfId, bitsOfLetter] = [128, 5];
/** Each part of the table grows alone, so growth copies a small part of the memory. */
const shardCount = 64;
const bitsOfShard = 6;
/** The share of taken places above which a shard grows, and by how much. */
const [fullShare, growth] = [0.75, 1.25];

/**
 * Marks of prefixed ULIDs, as bits of a number. It stores the 128 bits of each id and no text: 23 to 29 bytes per id. A
 * map of texts could keep the whole lines in memory that contain the ids. All ids have one prefix.
 */
export class IdMarks {
  /** A secret odd number, so that a caller cannot choose ids that collide. */
  readonly #seed = Math.floor(Math.random() * 0x7fff_ffff) * 2 + 1;
  readonly #shards = Array.from({ length: shardCount }, () => new Shard());
  /** The 128 bits of the last id that was read. */
  readonly #id = new Uint32Array(wordsOfId);
  /** The marks of the id of zeros, which looks like a free place. */
  #zeroMarks = 0;

  /** The marks of an id. 0 when it has none. */
  get(id: string): number {
    this.#read(id);
    if (isZero(this.#id, 0)) return this.#zeroMarks;
    const hash = this.#hash();
    return this.#shardOf(hash).get(this.#id, hash);
  }

  /** Adds marks to those of the id. `mark`: bits from 1 to 128. */
  add(id: string, mark: number): void {
    this.#read(id);
    if (isZero(this.#id, 0)) this.#zeroMarks |= mark;
    else {
      const hash = this.#hash();
      this.#shardOf(hash).add(this.#id, { hash, mark, hashOf: (words, place) => hashOf(this.#seed, words, place) });
    }
  }

  #hash(): number {
    return hashOf(this.#seed, this.#id, 0);
  }

  #shardOf(hash: number): Shard {
    const shard = this.#shards[hash >>> (32 - bitsOfShard)];
    if (shard === undefined) throw new RangeError('A hash has 32 bits');
    return shard;
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
}

type Added = { hash: number; mark: number; hashOf(words: Uint32Array, place: number): number };

class Shard {
  #room = firstRoom;
  #words = new Uint32Array(firstRoom * wordsOfId);
  #marks = new Uint8Array(firstRoom);
  #size = 0;

  get(id: Uint32Array, hash: number): number {
    return this.#marks[this.#findPlace(id, hash)] ?? 0;
  }

  add(id: Uint32Array, { hash, mark, hashOf: rehash }: Added): void {
    const at = this.#findPlace(id, hash);
    const isNew = this.#marks[at] === 0;
    this.#marks[at] = (this.#marks[at] ?? 0) | mark;
    if (!isNew) return;
    this.#words.set(id, at * wordsOfId);
    this.#size += 1;
    if (this.#size > this.#room * fullShare) this.#grow(rehash);
  }

  /** The place of the id, or a free place for it. A shard grows before it is full, so a free place exists. */
  #findPlace(id: Uint32Array, hash: number): number {
    const words = this.#words;
    for (let at = hash % this.#room; ; at = (at + 1) % this.#room)
      if (this.#marks[at] === 0 || isEqual(words, { place: at * wordsOfId, id })) return at;
  }

  #grow(rehash: Added['hashOf']): void {
    const [words, marks] = [this.#words, this.#marks];
    this.#room = Math.ceil(this.#room * growth);
    this.#words = new Uint32Array(this.#room * wordsOfId);
    this.#marks = new Uint8Array(this.#room);
    for (const [before, mark] of marks.entries()) {
      if (mark === 0) continue;
      const id = words.subarray(before * wordsOfId, (before + 1) * wordsOfId);
      const at = this.#findPlace(id, rehash(words, before * wordsOfId));
      this.#words.set(id, at * wordsOfId);
      this.#marks[at] = mark;
    }
  }
}

/** A hash of 32 bits. Its upper bits choose the shard, and its remainder the place. */
function hashOf(seed: number, words: Uint32Array, place: number): number {
  let hash = seed;
  for (let word = place; word < place + wordsOfId; word += 1)
    hash = Math.imul(hash ^ (words[word] ?? 0) ^ (hash >>> 15), 0x9e37_79b1);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function isZero(words: Uint32Array, place: number): boolean {
  return words[place] === 0 && words[place + 1] === 0 && words[place + 2] === 0 && words[place + 3] === 0;
}

function isEqual(words: Uint32Array, { place, id }: { place: number; id: Uint32Array }): boolean {
  return (
    words[place] === id[0] && words[place + 1] === id[1] && words[place + 2] === id[2] && words[place + 3] === id[3]
  );
}
