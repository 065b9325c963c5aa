type Placed<Item> = { at: number; item: Item };

/** Enough that a reader who is a few seconds behind still finds what it needs here. */
const itemsKeptMax = 1_000;

/** The newest part of an append-only sequence, in memory. It knows where it begins, so that a reader never takes a gap for silence. */
export class RecentItems<Item> {
  #from: number;
  #items: Placed<Item>[] = [];

  /** Holds everything at `from` and beyond, as it comes. */
  constructor(from: number) {
    this.#from = from;
  }

  append(items: readonly Placed<Item>[]): void {
    this.#items.push(...items);
    const forgotten = this.#items.splice(0, Math.max(0, this.#items.length - itemsKeptMax));
    const last = forgotten.at(-1);
    if (last !== undefined) this.#from = last.at + 1;
  }

  /** For what was not appended although it came: readers must look elsewhere for it. */
  forgetBefore(place: number): void {
    if (place <= this.#from) return;
    this.#from = place;
    this.#items = this.#items.filter(({ at }) => at >= place);
  }

  /** Everything from this place on, or null when that is no longer known here. */
  since(place: number): Placed<Item>[] | null {
    if (place < this.#from) return null;
    return this.#items.slice(this.#items.findLastIndex(({ at }) => at < place) + 1);
  }
}
