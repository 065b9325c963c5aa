import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, loopOf } from './expression-syntax.ts';
import { isHeldWorkSpent } from './held-work.ts';
import { PolicyError } from './policy-error.ts';

/** The library's form of a loop. It looks at the condition, where there is one, before each round. */
type Comprehension = { op: 'comprehension'; args: { condition?: (accumulated: unknown) => boolean } };

/** The undeclared members of the library's nodes. */
type Expanded = { meta?: { alternate?: Comprehension } };

/** Lets no loop begin a round when the work for the decision is spent: a round that fails ends no loop of CEL by itself. */
export function boundLoops(node: ASTNode, path: string): void {
  if (loopOf(node) !== null) bound(node, path);
  for (const child of childrenOf(node)) boundLoops(child, path);
}

function bound(loop: ASTNode, path: string): void {
  const { meta } = loop as Expanded; // the library does not declare what it makes of a macro
  const args = meta?.alternate?.args;
  // Stryker disable next-line ConditionalExpression,StringLiteral: The library makes it of each loop; this is for one that would not.
  if (args === undefined) throw new PolicyError('EXPRESSION_INVALID', path, 'a loop could not be bounded');
  const { condition = () => true } = args;
  args.condition = (accumulated) => !isHeldWorkSpent() && condition(accumulated);
}
