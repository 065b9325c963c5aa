import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, loopOf } from './expression-syntax.ts';

type Bound = ReadonlyMap<string, number>;

/**
 * How many times what the call brings an expression may hold at once: `x + x` holds twice as much as `x`, so `.map(x, x
 * + x)` three times in a row holds eight times as much. The size that a loop holds for each of its rounds is counted by
 * its rounds (`loop-cost`).
 */
export function growthOf(root: ASTNode): number {
  let most = 1;
  sizeOfResult(root, new Map());
  return most;

  function sizeOfResult(node: ASTNode, bound: Bound): number {
    const times = timesOf(node, bound);
    most = Math.max(most, times);
    return times;
  }

  function timesOf(node: ASTNode, bound: Bound): number {
    if (node.op === 'value') return 0;
    if (node.op === 'id') return bound.get(node.args) ?? 1;
    const loop = loopOf(node);
    if (loop !== null) {
      const ofRange = sizeOfResult(loop.range, bound);
      // Literals in the expression grow as well.
      const inner = new Map(bound).set(loop.variable, Math.max(1, ofRange));
      return Math.max(ofRange, ...loop.bodies.map((body) => sizeOfResult(body, inner)));
    }
    const sizes = childrenOf(node).map((child) => sizeOfResult(child, bound));
    if (node.op === '+') return sizes.reduce((sum, size) => sum + Math.max(1, size), 0);
    if (node.op === 'list' || node.op === 'map') return sizes.reduce((sum, size) => sum + size, 0);
    return Math.max(0, ...sizes);
  }
}
