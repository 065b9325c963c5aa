import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, loopOf } from './expression-syntax.ts';

type Bound = ReadonlyMap<string, number>;

/**
 * How many times what the call brings an expression may hold at once: `x + x` holds twice as much as `x`, so `.map(x, x + x)` three times in a
 * row holds eight times as much. What a loop holds for each of its rounds is counted by its rounds (`loop-cost`).
 */
export function growthOf(root: ASTNode): number {
  let most = 1;
  held(root, new Map());
  return most;

  function held(node: ASTNode, bound: Bound): number {
    const times = timesOf(node, bound);
    most = Math.max(most, times);
    return times;
  }

  function timesOf(node: ASTNode, bound: Bound): number {
    if (node.op === 'value') return 0;
    if (node.op === 'id') return bound.get(node.args) ?? 1;
    const loop = loopOf(node);
    if (loop !== null) {
      const ofRange = held(loop.range, bound);
      // What is written in the expression grows as well.
      const inner = new Map(bound).set(loop.variable, Math.max(1, ofRange));
      return Math.max(ofRange, ...loop.bodies.map((body) => held(body, inner)));
    }
    const parts = childrenOf(node).map((child) => held(child, bound));
    if (node.op === '+') return parts.reduce((sum, part) => sum + Math.max(1, part), 0);
    if (node.op === 'list' || node.op === 'map') return parts.reduce((sum, part) => sum + part, 0);
    return Math.max(0, ...parts);
  }
}
