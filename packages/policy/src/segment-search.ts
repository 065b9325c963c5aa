import type { Work } from './work.ts';

type Node = {
  readonly next: Map<string, Node>;
  /** Where the longest end of this text leads that begins another segment. */
  fail: Node;
  /** The segment that ends here. */
  segment: string | null;
  /** The nearest node on the way of `fail` in which a segment ends. */
  shorter: Node | null;
};

/** A pattern between its head and its tail: its segments are found one behind the other. */
export type Sought = { readonly glob: string; readonly segments: readonly string[]; readonly tailLength: number };
/** `from`: where the text behind its head begins. */
export type Waiting = { readonly sought: Sought; readonly from: number };

/**
 * Finds the segments of many patterns in one pass over a text (Aho and Corasick). A pattern waits for one segment at a time, since the first
 * place of a segment leaves the most for those behind it.
 */
export class SegmentSearch {
  readonly #root: Node;
  /** Segments that can end at one place. */
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

  /** The globs whose segments are all in the text, in order and before their tails. `waiting` begins with the shortest heads. */
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

/** Which pattern waits for which segment, in the order in which they came: those that came later begin later. */
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

  /** Also where the work is spent. */
  get areDone(): boolean {
    return this.#open === 0 || this.#work.isSpent;
  }

  /** Those whose heads end here begin to wait. */
  admit(at: number): void {
    for (let next = this.#waiting[this.#admitted]; next !== undefined && next.from <= at;) {
      if (!this.#work.takeSteps(1)) return;
      this.#enqueue({ ...next, nth: 0 });
      this.#admitted += 1;
      next = this.#waiting[this.#admitted];
    }
  }

  /** A segment ends here: the patterns that it was the last one of. */
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

/** Null where the work is spent. Each character leads one level down at most, so all ways back together are as long as the text. */
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
  root.fail = root as Node; // closed by this line
  return root as Node;
}

function child(node: Node, character: string, root: Node): Node {
  const child = node.next.get(character);
  if (child !== undefined) return child;
  const made: Node = { next: new Map(), fail: root, segment: null, shorter: null };
  node.next.set(character, made);
  return made;
}

/** Links each node to the shorter ones, level by level, and returns the longest chain of segments that end at one place. */
function* linked(root: Node): Generator<void, number> {
  const chains = new Map<Node | null, number>([[null, 0]]);
  let chainMax = 0;
  const level = [...root.next.values()];
  // An array may grow while it is walked.
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
