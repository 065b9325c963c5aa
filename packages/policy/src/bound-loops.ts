import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, loopOf } from './expression-syntax.ts';
import { isHeldWorkSpent } from './held-work.ts';
import { PolicyError } from './policy-error.ts';

/** The library's form of a loop. It evaluates the condition, if there is one, before each round. */
type Comprehension = { op: 'comprehension'; args: { condition?: (accumulated: unknown) => boolean } };

/** The undeclared members of the library's nodes. */
type Expanded = { meta?: { alternate?: Comprehension } };

/** Stops loops when the work of the decision is used up, since a failing round does not end a CEL loop. */
export function boundLoops(node: ASTNode, path: string): void {
  if (loopOf(node) !== null) bound(node, path);
  for (const child of childrenOf(node)) boundLoops(child, path);
}

function bound(loop: ASTNode, path: string): void {
  const { meta } = loop as Expanded; // the library does not declare the expansion of a macro
  const args = meta?.alternate?.args;
  // Stryker disable next-line ConditionalExpression,StringLiteral: Every loop is expanded, so this is a safeguard.
  if (args === undefined)
    throw new PolicyError('EXPRESSION_INVALID', path, 'the number of steps of a loop is unknown. Use a shorter list');
  const { condition = () => true } = args;
  args.condition = (accumulated) => !isHeldWorkSpent() && condition(accumulated);
}
