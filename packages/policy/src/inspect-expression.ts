import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, comprehensions, functions, loopOf, methods, type Dialect } from './expression-syntax.ts';
import { linearRegExp, type LinearRegExp } from './linear-regexp.ts';
import { growthOf } from './growth.ts';
import { concatenations, enumerations, rereadings, searchingPowers } from './loop-cost.ts';
import { PolicyError } from './policy-error.ts';

/** Two nested loops are enough for "some item has some tag". Three would give every call a cubic cost. */
const comprehensionDepthMax = 2;

/**
 * Units of work per character, for functions that may read a whole text again for each element. A pattern has its own
 * cost.
 */
const searchCosts: Readonly<Record<string, number>> = {
  ...{ matches: 0, lowerAscii: 0.04, upperAscii: 0.04, split: 0.04 },
  ...{ contains: 0.001, indexOf: 0.001, lastIndexOf: 0.001 },
};
/** Units of work per character, for functions that read each text once, inside or outside of loops. */
const readingCosts: Readonly<Record<string, number>> = {
  ...{ size: 0.08, trim: 0.01, lowerAscii: 0.11, upperAscii: 0.11, lastIndexOf: 0.004 },
  ...{ double: 0.1, int: 0.01, uint: 0.01, join: 0.01 },
};
/**
 * Units of work per character, for comparing texts up to the first difference, building a text, and looking up a key.
 */
const textCosts = { compared: 0.001, built: 0.002, key: 0.005 };
const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
/**
 * Units of work per value, for functions that look at each value. The library counts and compares the members of an
 * object one by one.
 */
const valueCosts = { size: 4, sought: 1, compared: 5 };
/** Units of work of `join` for each value, and for each character of a literal separator. */
const joinedCosts = { value: 1, character: 0.01 };

/** This number of nodes in a loop costs as much as one loop body. */
const bodyNodes = 10;

export type Inspection = {
  /** The number of nodes in the syntax tree: the cost of one evaluation. */
  size: number;
  /** The number of elements in literal lists and maps, over which a loop may run. */
  literals: number;
  /** The cost of one round of the loop bodies, by depth. Bodies at depth 1 run once for each element. */
  bodyCosts: readonly number[];
  splitsText: boolean;
  /**
   * The search cost for each character of the call. Entry n is multiplied by the number of elements to the power of n.
   */
  searchCosts: readonly number[];
  /** The compiled patterns, by their text. */
  patterns: ReadonlyMap<string, LinearRegExp>;
  /** The cost for each character of the call. `valueCost` is the cost for each value. */
  readingCost: number;
  valueCost: number;
  /**
   * The number of operations that read the whole call again. Entry n is multiplied by the number of elements to the
   * power of n.
   */
  rereadings: readonly number[];
  /** The number of operations that copy all values. Entry n is multiplied as in `rereadings`. */
  concatenations: readonly number[];
  /** The number of operations that look at all names of objects. Entry n is multiplied as in `rereadings`. */
  enumerations: readonly number[];
  /** The maximum factor by which the values of the call grow. */
  growth: number;
};

class NodesInLoops {
  readonly #counts: number[] = [];

  /** Nodes outside of loops count only towards `size`. */
  add(depth: number): void {
    if (depth === 0) return;
    while (this.#counts.length <= depth) this.#counts.push(0);
    this.#counts[depth] = (this.#counts[depth] ?? 0) + 1;
  }

  get costs(): number[] {
    return this.#counts.map((nodes) => (nodes === 0 ? 0 : Math.max(1, nodes / bodyNodes)));
  }
}

/**
 * Rejects what the type checker accepts: unknown names, unlisted functions, non-linear patterns, loops that nest too
 * deep. Throws {@link PolicyError}.
 */
export function inspectExpression(root: ASTNode, path: string, { variables, unbounded }: Dialect): Inspection {
  const isShortName = (name: string) => variables.has(name) && !unbounded.has(name);
  const terms = { priced: searchCosts, unbounded };
  const powers = searchingPowers(root, terms);
  const patterns = new Map<string, LinearRegExp>();
  const costsOfSearches: number[] = [];
  const loops = new NodesInLoops();
  const inspection = {
    ...{ size: 0, literals: 0, splitsText: false, readingCost: 0, valueCost: 0 },
    ...{ searchCosts: costsOfSearches, patterns, rereadings: rereadings(root, terms), growth: growthOf(root) },
    ...{ concatenations: concatenations(root, terms), enumerations: enumerations(root, terms) },
  };
  visit(root, new Set(), 0);
  return { ...inspection, bodyCosts: loops.costs };

  function price(node: ASTNode): void {
    inspection.valueCost += valueCostOf(node, isShortName);
    inspection.readingCost += textCostOf(node, isShortName);
    if (node.op !== 'rcall' && node.op !== 'call') return;
    inspection.readingCost += readingCosts[node.args[0]] ?? 0;
    const power = powers.get(node);
    // Stryker disable next-line ConditionalExpression: Only method calls have a power.
    if (node.op !== 'rcall' || power === undefined) return;
    if (node.args[0] === 'split') inspection.splitsText = true;
    while (costsOfSearches.length < power) costsOfSearches.push(0);
    costsOfSearches[power] = (costsOfSearches[power] ?? 0) + searchCostOf(node.args[0], node.args[2][0]);
  }

  function searchCostOf(method: string, operand: ASTNode | undefined): number {
    if (method !== 'matches') return searchCosts[method] ?? 0;
    const { text, pattern } = patternOf(operand, path);
    patterns.set(text, pattern);
    return pattern.costPerCharacter;
  }

  function visit(node: ASTNode, bound: ReadonlySet<string>, depth: number): void {
    refuseNode(node, (name) => bound.has(name) || variables.has(name), path);
    inspection.size += 1;
    loops.add(depth);
    if (node.op === 'list' || node.op === 'map') inspection.literals += node.args.length;
    price(node);
    const loop = loopOf(node);
    if (loop === null) {
      for (const child of childrenOf(node)) visit(child, bound, depth);
      return;
    }
    const { variable, range, bodies } = loop;
    if (variables.has(variable))
      throw refused('VARIABLE_UNKNOWN', path, `${variable} is a variable already: rename it`);
    if (depth + 1 > comprehensionDepthMax) {
      throw refused('NESTING_REFUSED', path, `more than ${comprehensionDepthMax} nested comprehensions`);
    }
    visit(range, bound, depth);
    const inner = new Set([...bound, variable]);
    for (const body of bodies) visit(body, inner, depth + 1);
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
      // Stryker disable next-line ConditionalExpression: The parser rejects it first. This check is a safeguard.
      if (comprehensions.has(node.args[0]) && loopOf(node) === null) {
        throw refused('EXPRESSION_INVALID', path, `the first argument of ${node.args[0]}() must be a variable name`);
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

function valueCostOf(node: ASTNode, isShortName: (name: string) => boolean): number {
  switch (node.op) {
    case 'call':
      return node.args[0] === 'size' ? valueCosts.size : 0;
    case 'rcall':
      if (node.args[0] === 'join') return joiningCost(node.args[2][0]);
      return node.args[0] === 'size' ? valueCosts.size : 0;
    case 'in':
      return node.args[1].op === 'list' ? 0 : valueCosts.sought;
    case '==':
    case '!=':
      return node.args.some((side) => isShort(side, isShortName)) ? 0 : valueCosts.compared;
    default:
      return 0;
  }
}

function joiningCost(between: ASTNode | undefined): number {
  const written = between?.op === 'value' && typeof between.args === 'string' ? between.args.length : 0;
  return joinedCosts.value + joinedCosts.character * written;
}

function textCostOf(node: ASTNode, isShortName: (name: string) => boolean): number {
  const areShort = (sides: readonly ASTNode[]) => sides.map((side) => isShort(side, isShortName));
  switch (node.op) {
    case 'rcall': {
      const [method, ...sides] = node.args;
      const isPrefix = method === 'startsWith' || method === 'endsWith';
      return isPrefix && !areShort(sides.flat()).includes(true) ? textCosts.compared : 0;
    }
    case '+':
      return areShort(node.args).includes(false) ? textCosts.built : 0;
    case '[]':
      return areShort([node.args[1]]).includes(false) ? textCosts.key : 0;
    case 'in':
      return node.args[1].op === 'list' ? 0 : textCosts.key;
    case 'map':
      return areShort(node.args.map(([key]) => key)).includes(false) ? textCosts.key : 0;
    default:
      return comparisons.has(node.op) && !areShort(childrenOf(node)).includes(true) ? textCosts.compared : 0;
  }
}

/** Whether a comparison with this operand is cheap. Literals and short names are cheap to compare. */
function isShort(node: ASTNode, isShortName: (name: string) => boolean): boolean {
  switch (node.op) {
    case 'value':
      return true;
    case '-_':
      return isShort(node.args, isShortName);
    case 'id':
      return isShortName(node.args);
    default:
      return false;
  }
}

function patternOf(literal: ASTNode | undefined, path: string): { text: string; pattern: LinearRegExp } {
  // Stryker disable next-line OptionalChaining: The list of methods gives matches() one operand.
  if (literal?.op !== 'value' || typeof literal.args !== 'string') {
    throw refused('REGEXP_REFUSED', path, 'the pattern of matches() must be a literal');
  }
  try {
    return { text: literal.args, pattern: linearRegExp(literal.args) };
  } catch (error) {
    // Stryker disable next-line StringLiteral: The engine throws only errors.
    throw refused('REGEXP_REFUSED', path, error instanceof Error ? error.message : 'not a linear regular expression');
  }
}

function refused(code: PolicyError['code'], path: string, message: string): PolicyError {
  return new PolicyError(code, path, message);
}
