import type { ASTNode } from '@marcbachmann/cel-js';
import { boundVariable, childrenOf, comprehensions, functions, methods, type Dialect } from './expression-syntax.ts';
import { compileLinearRegExp } from './linear-regexp.ts';
import { rereadingPower } from './loop-cost.ts';
import { PolicyError } from './policy-error.ts';

/** Two loops inside each other are enough for "some item has some tag"; three are a cubic cost for every call. */
const comprehensionDepthMax = 2;

/** What reads a text to its end, in loop bodies per character. */
const searchCosts: Readonly<Record<string, number>> = {
  ...{ matches: 0.04, lowerAscii: 0.04, upperAscii: 0.04, split: 0.04 },
  ...{ contains: 0.001, indexOf: 0.001, lastIndexOf: 0.001 },
};

export type Inspection = {
  /** Nodes of the syntax tree: what evaluating it once takes. */
  size: number;
  comprehensionDepth: number;
  splitsText: boolean;
  searchCost: number;
  rereadingPower: number;
};

/** Refuses what the type checker cannot: unknown names, functions outside the list, patterns, loops. Throws {@link PolicyError}. */
export function inspectExpression(root: ASTNode, path: string, { variables, unbounded }: Dialect): Inspection {
  const rereads = rereadingPower(root, { priced: searchCosts, unbounded });
  const inspection: Inspection = {
    size: 0,
    comprehensionDepth: 0,
    splitsText: false,
    searchCost: 0,
    rereadingPower: rereads,
  };
  visit(root, new Set(), 0);
  return inspection;

  function visit(node: ASTNode, bound: ReadonlySet<string>, depth: number): void {
    refuseNode(node, (name) => bound.has(name) || variables.has(name), path);
    inspection.size += 1;
    if (node.op === 'rcall' && node.args[0] === 'split') inspection.splitsText = true;
    if (node.op === 'rcall') inspection.searchCost += searchCosts[node.args[0]] ?? 0;
    const variable = boundVariable(node);
    if (node.op !== 'rcall' || variable === null) {
      for (const child of childrenOf(node)) visit(child, bound, depth);
      return;
    }
    if (variables.has(variable)) throw refused('VARIABLE_UNKNOWN', path, `${variable} may not be bound again`);
    if (depth + 1 > comprehensionDepthMax) {
      throw refused('NESTING_REFUSED', path, `more than ${comprehensionDepthMax} comprehensions inside each other`);
    }
    inspection.comprehensionDepth = Math.max(inspection.comprehensionDepth, depth + 1);
    visit(node.args[1], bound, depth);
    const inner = new Set([...bound, variable]);
    for (const body of node.args[2].slice(1)) visit(body, inner, depth + 1);
  }
}

function refuseNode(node: ASTNode, isKnown: (name: string) => boolean, path: string): void {
  switch (node.op) {
    case 'id':
      if (!isKnown(node.args)) {
        throw refused('VARIABLE_UNKNOWN', path, `unknown variable ${node.args}`);
      }
      return;
    case 'call':
      return refuseFunction(functions, node.args[0], node.args[1].length, path);
    case 'rcall':
      refuseFunction(methods, node.args[0], node.args[2].length, path);
      if (node.args[0] === 'matches') refusePattern(node.args[2][0], path);
      if (comprehensions.has(node.args[0]) && boundVariable(node) === null) {
        throw refused('EXPRESSION_INVALID', path, `${node.args[0]}() needs a variable name first`);
      }
      return;
    default:
      return;
  }
}

function refuseFunction(allowed: ReadonlySet<string>, name: string, count: number, path: string): void {
  if (!allowed.has(`${name}/${count}`))
    throw refused('FUNCTION_REFUSED', path, `no function ${name} with ${count} arguments`);
}

function refusePattern(pattern: ASTNode | undefined, path: string): void {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    throw refused('REGEXP_REFUSED', path, 'the pattern of matches() must be a literal');
  }
  try {
    compileLinearRegExp(pattern.args);
  } catch (error) {
    throw refused('REGEXP_REFUSED', path, error instanceof Error ? error.message : 'not a linear regular expression');
  }
}

function refused(code: PolicyError['code'], path: string, message: string): PolicyError {
  return new PolicyError(code, path, message);
}
