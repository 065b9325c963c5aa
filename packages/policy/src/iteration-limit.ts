import type { Expression, ExpressionVariables } from './expression.ts';

/** About a tenth of a second of loop bodies: more is an attack on the decision path, not a call. */
const iterationsMax = 1_000_000;

/**
 * CEL always ends, but two nested loops over a caller's list of 100,000 items end too late. True when the number of elements in
 * the call, to the power of the nesting, passes the limit. Only expressions with comprehensions pay for the counting.
 */
export function exceedsIterations(expression: Expression, variables: ExpressionVariables): boolean {
  if (expression.comprehensionDepth === 0) return false;
  const { args, context, relations } = variables;
  const weight = weightOf([args, context, relations], expression.splitsText);
  return weight ** expression.comprehensionDepth > iterationsMax;
}

function weightOf(root: unknown, splitsText: boolean): number {
  let weight = 0;
  const waiting: unknown[] = [root];
  for (let value = waiting.pop(); value !== undefined && weight <= iterationsMax; value = waiting.pop()) {
    if (splitsText && typeof value === 'string') weight += value.length;
    if (typeof value !== 'object' || value === null) continue;
    const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
    weight += children.length;
    for (const child of children) waiting.push(child);
  }
  return weight;
}
