import type { Work } from './work.ts';

type Node = {
  readonly next: Map<string, Node>;
  /** The node of the longest suffix of this node's text with which another segment begins. */
  fail: Node;
  /** The segment that ends here. */
  segment: string | null;
  /** The nearest node along `fail` at which a segment ends. */
  shorter: Node | null;
};

/** A pattern between its head and its tail. Its segments are searched one after the other. */
export type Sought = { readonly glob: string; readonly segments: readonly string[]; readonly tailLength: number };
/** `from`: the position behind the head. */
export type Waiting = { readonly sought: Sought; readonly from: number };

/**
 * Finds the segments of many patterns in one pass over a text (Aho and Corasick). A pattern waits for one segment at a
 * time. The first occurrence of a segment is enough, since it leaves the most text for the next segments.
 */
export class SegmentSearch {
  readonly #root: Node;
  /** The maximum number of segments that end at one position. */
  readonly chainMax: number;

  private constructor(root: Node, chainMax: number) {
    this.#root = root;
    this.chainMax = chainMax;
  }

  static *inSteps(segments: Iterable<string>): Generator<void, SegmentSearch> {
    const root = rootNode();
    for (const segment of segments) {
      let node = root;
      for (let at = 0; at < segment.length; at += 1) node = child(node, segment.charAt(at), root);
      node.segment = segment;
      yield;
    }
    return new SegmentSearch(root, yield* linked(root));
  }

  /**
   * The patterns whose segments are all in the text, in order and before the tail. `waiting` is sorted, with the
   * shortest heads first.
   */
  *found(text: string, waiting: readonly Waiting[], work: Work): Generator<string> {
    const waiters = new Waiters(waiting, work);
    let node: Node | null = this.#root;
    for (let at = waiting[0]?.from ?? 0; at < text.length && !waiters.areDone; at += 1) {
      waiters.admit(at);
      node = step(node, text.charAt(at), work);
      if (node === null) return;
      for (let end = node.segment === null ? node.shorter : node; end !== null; end = end.shorter) {
        if (!work.takeSteps(1)) return;
        for (const { glob, tailLength } of waiters.advance(end.segment ?? '', at + 1))
          if (at + 1 + tailLength <= text.length) yield glob;
      }
    }
  }
}

type Place = { readonly sought: Sought; readonly nth: number; readonly from: number };

/** The patterns that wait for each segment, in order of arrival. Later arrivals also begin later in the text. */
class Waiters {
  readonly #queues = new Map<string, { places: Place[]; head: number }>();
  readonly #waiting: readonly Waiting[];
  readonly #work: Work;
  #admitted = 0;
  #open: number;

  constructor(waiting: readonly Waiting[], work: Work) {
    this.#waiting = waiting;
    this.#open = waiting.length;
    this.#work = work;
  }

  /** True when no pattern waits any more, and when the work is used up. */
  get areDone(): boolean {
    return this.#open === 0 || this.#work.isSpent;
  }

  /** Adds the patterns whose heads end here. */
  admit(at: number): void {
    for (let next = this.#waiting[this.#admitted]; next !== undefined && next.from <= at;) {
      if (!this.#work.takeSteps(1)) return;
      this.#enqueue({ ...next, nth: 0 });
      this.#admitted += 1;
      next = this.#waiting[this.#admitted];
    }
  }

  /** Advances the patterns whose next segment ends here. Yields the patterns whose last segment it is. */
  *advance(segment: string, end: number): Generator<Sought> {
    const queue = this.#queues.get(segment);
    if (queue === undefined) return;
    for (let first = queue.places[queue.head]; first !== undefined; first = queue.places[queue.head]) {
      if (first.from + segment.length > end || !this.#work.takeSteps(1)) return;
      queue.head += 1;
      const { sought, nth } = first;
      if (nth + 1 < sought.segments.length) this.#enqueue({ sought, nth: nth + 1, from: end });
      else {
        this.#open -= 1;
        yield sought;
      }
    }
  }

  #enqueue(place: Place): void {
    const segment = place.sought.segments[place.nth] ?? '';
    const queue = this.#queues.get(segment);
    if (queue === undefined) this.#queues.set(segment, { places: [place], head: 0 });
    else queue.places.push(place);
  }
}

/**
 * `null` when the work is used up. Each character leads at most one level down, so there are at most as many steps back
 * as characters.
 */
function step(from: Node, character: string, work: Work): Node | null {
  for (let node = from; work.takeSteps(1); node = node.fail) {
    const next = node.next.get(character);
    if (next !== undefined) return next;
    if (node.fail === node) return node;
  }
  return null;
}

function rootNode(): Node {
  const root: Omit<Node, 'fail'> & { fail?: Node } = { next: new Map(), segment: null, shorter: null };
  root.fail = root as Node; // a whole node, now that `fail` is set
  return root as Node;
}

function child(node: Node, character: string, root: Node): Node {
  const child = node.next.get(character);
  if (child !== undefined) return child;
  const made: Node = { next: new Map(), fail: root, segment: null, shorter: null };
  node.next.set(character, made);
  return made;
}

/**
 * Links each node to the shorter ones, level by level. Returns the maximum number of segments that end at one position.
 */
function* linked(root: Node): Generator<void, number> {
  const chains = new Map<Node | null, number>([[null, 0]]);
  let chainMax = 0;
  const level = [...root.next.values()];
  // The array grows during the iteration.
  for (const node of level) {
    chains.set(node, (chains.get(node.shorter) ?? 0) + (node.segment === null ? 0 : 1));
    chainMax = Math.max(chainMax, chains.get(node) ?? 0);
    for (const [character, deeper] of node.next) {
      let fail = node.fail;
      while (fail !== root && !fail.next.has(character)) fail = fail.fail;
      deeper.fail = fail.next.get(character) ?? root;
      deeper.shorter = deeper.fail.segment === null ? deeper.fail.shorter : deeper.fail;
      level.push(deeper);
    }
    yield;
  }
  return chainMax;
}
