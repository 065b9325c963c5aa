import { appendLeaf, emptyFrontier, frontierRoot, leafHash, type Frontier, type NodeReader } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';

const hashBytes = 32;

/** The perfect subtrees of a log (RFC 9162 §2.1): the hashes of each level in one array, leaves first. */
export class TreeLevels {
  readonly #levels: Uint8Array[] = [];
  #frontier: Frontier = emptyFrontier;

  constructor(leavesMax: number) {
    for (let nodes = leavesMax; nodes > 0; nodes >>= 1) this.#levels.push(new Uint8Array(nodes * hashBytes));
  }

  append(content: Uint8Array): void {
    const { frontier, completed } = appendLeaf(nodeProvider, this.#frontier, leafHash(nodeProvider, content));
    for (const { level, index, hash } of completed) this.#levels[level]?.set(hash, index * hashBytes);
    this.#frontier = frontier;
  }

  get size(): number {
    return this.#frontier.size;
  }

  get root(): Uint8Array {
    return frontierRoot(nodeProvider, this.#frontier);
  }

  readonly read: NodeReader = async (level, index) => {
    const hashes = this.#levels[level];
    if (hashes === undefined) throw new RangeError(`The tree has no level ${level}`);
    return hashes.slice(index * hashBytes, (index + 1) * hashBytes);
  };
}
