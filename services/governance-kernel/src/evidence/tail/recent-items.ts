type Placed<Item> = { at: number; item: Item };

/** Enough for a reader that is a few seconds behind. */
const itemsKeptMax = 1_000;

/**
 * The newest part of an append-only sequence, in memory. It knows its first place, so a reader notices when items are
 * missing.
 */
export class RecentItems<Item> {
  #from: number;
  #items: Placed<Item>[] = [];

  /** Keeps all items from `from` on. */
  constructor(from: number) {
    this.#from = from;
  }

  append(items: readonly Placed<Item>[]): void {
    this.#items.push(...items);
    const forgotten = this.#items.splice(0, Math.max(0, this.#items.length - itemsKeptMax));
    const last = forgotten.at(-1);
    if (last !== undefined) this.#from = last.at + 1;
  }

  /** Forgets the items before this place. Used when an item was not appended, so that readers notice the gap. */
  forgetBefore(place: number): void {
    if (place <= this.#from) return;
    this.#from = place;
    this.#items = this.#items.filter(({ at }) => at >= place);
  }

  /** All items from this place on. `null` when some of these items are not in memory. */
  since(place: number): Placed<Item>[] | null {
    if (place < this.#from) return null;
    return this.#items.slice(this.#items.findLastIndex(({ at }) => at < place) + 1);
  }
}
