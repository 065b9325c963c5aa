import type { RelationQuestion } from '@countersign/policy';

/** `object#relation`: all subjects that have it. */
export type Node = string;
export const nodeOf = ({ object, relation }: Pick<RelationQuestion, 'object' | 'relation'>): Node =>
  `${object}#${relation}`;

/** The part of a tenant's tuples that some queries need. */
export type LoadedTuples = {
  /** For each node, the groups that it contains, sorted. */
  readonly groups: ReadonlyMap<Node, ReadonlySet<Node>>;
  /** For each subject of the queries, the nodes that contain it. */
  readonly members: ReadonlyMap<string, ReadonlySet<Node>>;
  /** Whether there are more groups than were loaded. */
  readonly isCut: boolean;
};

/** `path`: the tuples from the object to the subject. `null` when the loaded part has none. */
type Found = {
  readonly path: readonly string[] | null;
  /** Whether a path may exist beyond the limits. */ readonly isCut: boolean;
};

/** The limit of nested groups. Deeper nesting is a mistake. */
export const depthMax = 16;
/** The limit of steps for all queries of one graph together. This many steps take a few milliseconds. */
const stepsMax = 100_000;

const noNodes: ReadonlySet<Node> = new Set();

/** A node that was reached, and its predecessor. */
type Reached = ReadonlyMap<Node, { readonly from: Node | null }>;
type Tree = { readonly reached: Reached; readonly isCut: boolean };

/**
 * Answers queries from loaded tuples, breadth first and sorted by name, so that the same tuples give the same path.
 * Each group is entered once, so cycles end. A tree of groups is walked once, for any number of subjects.
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

/** The nearest of these nodes, since `reached` contains its nodes in the order in which they were reached. */
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
