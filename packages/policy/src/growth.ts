import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, loopOf } from './expression-syntax.ts';

type Bound = ReadonlyMap<string, number>;

/**
 * The maximum factor by which the values of a call grow in an expression. `x + x` is twice as large as `x`, so three
 * `.map(x, x + x)` in a row are eight times as large. Growth by the number of rounds of a loop is counted in
 * `loop-cost.ts`.
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
      // At least 1, since a loop over literals makes these literals grow as well.
      const inner = new Map(bound).set(loop.variable, Math.max(1, ofRange));
      return Math.max(ofRange, ...loop.bodies.map((body) => sizeOfResult(body, inner)));
    }
    const sizes = childrenOf(node).map((child) => sizeOfResult(child, bound));
    if (node.op === '+') return sizes.reduce((sum, size) => sum + Math.max(1, size), 0);
    if (node.op === 'list' || node.op === 'map') return sizes.reduce((sum, size) => sum + size, 0);
    return Math.max(0, ...sizes);
  }
}
