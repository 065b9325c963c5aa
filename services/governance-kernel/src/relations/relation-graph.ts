import type { RelationQuestion } from '@countersign/policy';

/** `object#relation`: everybody who has it. */
export type Node = string;
export const nodeOf = ({ object, relation }: Pick<RelationQuestion, 'object' | 'relation'>): Node =>
  `${object}#${relation}`;

/** The part of a tenant's tuples that some questions need. */
export type LoadedTuples = {
  /** The groups in a node, in order. */
  readonly groups: ReadonlyMap<Node, ReadonlySet<Node>>;
  /** The nodes that the subjects of the questions are in. */
  readonly members: ReadonlyMap<string, ReadonlySet<Node>>;
  /** There are more groups than were loaded. */
  readonly isCut: boolean;
};

/** `path`: the tuples from the object to the subject; null: there is none in what was loaded. */
type Found = {
  readonly path: readonly string[] | null;
  /** There may be one beyond the bounds. */ readonly isCut: boolean;
};

/** Groups inside groups deeper than this are a mistake, and a cycle has no depth. */
export const depthMax = 16;
/** The steps of all questions to one graph: a few milliseconds. */
const stepsMax = 100_000;

const noNodes: ReadonlySet<Node> = new Set();

/** A node that was reached, and from where. */
type Reached = ReadonlyMap<Node, { readonly from: Node | null }>;
type Tree = { readonly reached: Reached; readonly isCut: boolean };

/**
 * Answers questions from loaded tuples, breadth first and in the order of names, so that the same tuples give the same path. Each group
 * is entered once, so cycles end. A tree of groups is walked once, for however many subjects.
 */
export class RelationGraph {
  readonly #tuples: LoadedTuples;
  readonly #trees = new Map<Node, Tree>();
  #steps = 0;

  constructor(tuples: LoadedTuples) {
    this.#tuples = tuples;
  }

  find({ object, relation, subject }: RelationQuestion): Found {
    const start = nodeOf({ object, relation });
    const tree = this.#trees.get(start) ?? this.#walk(start);
    this.#trees.set(start, tree);
    const holding = this.#tuples.members.get(subject);
    const first = holding === undefined ? undefined : firstOf(tree.reached, holding);
    if (first !== undefined) return { path: pathOf(tree.reached, first, subject), isCut: false };
    return { path: null, isCut: tree.isCut || this.#tuples.isCut };
  }

  #walk(start: Node): Tree {
    const reached = new Map<Node, { from: Node | null }>([[start, { from: null }]]);
    let level = [start];
    for (let depth = 0; depth < depthMax && level.length > 0; depth += 1) {
      const next: Node[] = [];
      for (const from of level)
        for (const node of this.#tuples.groups.get(from) ?? noNodes) {
          if ((this.#steps += 1) > stepsMax) return { reached, isCut: true };
          if (reached.has(node)) continue;
          reached.set(node, { from });
          next.push(node);
        }
      level = next;
    }
    return { reached, isCut: level.length > 0 };
  }
}

/** The nearest: nodes stand in the order in which they were reached. */
function firstOf(reached: Reached, among: ReadonlySet<Node>): Node | undefined {
  for (const node of reached.keys()) if (among.has(node)) return node;
  return undefined;
}

function pathOf(reached: Reached, last: Node, subject: string): string[] {
  const path = [`${last}@${subject}`];
  for (let node = last, from = reached.get(node)?.from; from !== null && from !== undefined;) {
    path.unshift(`${from}@${node}`);
    node = from;
    from = reached.get(node)?.from;
  }
  return path;
}
