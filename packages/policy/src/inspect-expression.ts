import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, comprehensions, functions, loopOf, methods, type Dialect } from './expression-syntax.ts';
import { linearRegExp, type LinearRegExp } from './linear-regexp.ts';
import { growthOf } from './growth.ts';
import { concatenations, enumerations, rereadings, searchingPowers } from './loop-cost.ts';
import { PolicyError } from './policy-error.ts';

/** Two loops inside each other are enough for "some item has some tag"; three are a cubic cost for every call. */
const comprehensionDepthMax = 2;

/**
 * Functions that read a text to its end and may do so again for each element, in loop bodies per character. A pattern
 * has its own price.
 */
const searchCosts: Readonly<Record<string, number>> = {
  ...{ matches: 0, lowerAscii: 0.04, upperAscii: 0.04, split: 0.04 },
  ...{ contains: 0.001, indexOf: 0.001, lastIndexOf: 0.001 },
};
/** Functions that read each text once, wherever it is. */
const readingCosts: Readonly<Record<string, number>> = {
  ...{ size: 0.08, trim: 0.01, lowerAscii: 0.11, upperAscii: 0.11, lastIndexOf: 0.004 },
  ...{ double: 0.1, int: 0.01, uint: 0.01, join: 0.01 },
};
/** Functions that compare texts up to the first difference, build one, or look one up as a key. */
const textCosts = { compared: 0.001, built: 0.002, key: 0.005 };
const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
/**
 * Functions that look at each value, in loop bodies: the library counts and compares the members of an object one by
 * one.
 */
const valueCosts = { size: 4, sought: 1, compared: 5 };
/** A text that is written is put between all values. */
const joinedCosts = { value: 1, character: 0.01 };

/** This number of nodes in loops, of one or several, is one loop body. */
const bodyNodes = 10;

export type Inspection = {
  /** Nodes of the syntax tree: what evaluating it once takes. */
  size: number;
  /** Elements of the lists and maps that are written in it: a loop may go over them. */
  literals: number;
  /** The costs of the bodies of its loops in a round, by their depth: at 1, those that run once for each element. */
  bodyCosts: readonly number[];
  splitsText: boolean;
  /** For each character that the call brings, by how often it may be searched: once, or once for each element to that power. */
  searchCosts: readonly number[];
  /** Its patterns, compiled, by their text. */
  patterns: ReadonlyMap<string, LinearRegExp>;
  /** For each character, and for each value, that the call brings. */
  readingCost: number;
  valueCost: number;
  /** How many operations read the whole call once for each element, to the power of their place. */
  rereadings: readonly number[];
  /** How many operations copy all values, once or once for each element, to the power of their place. */
  concatenations: readonly number[];
  /** How many operations look at all names of its objects once for each element, to the power of their place. */
  enumerations: readonly number[];
  /** How many times what the call brings it may hold at once. */
  growth: number;
};

class NodesInLoops {
  readonly #counts: number[] = [];

  /** Nodes outside of loops are counted only by their number. */
  add(depth: number): void {
    if (depth === 0) return;
    while (this.#counts.length <= depth) this.#counts.push(0);
    this.#counts[depth] = (this.#counts[depth] ?? 0) + 1;
  }

  get costs(): number[] {
    return this.#counts.map((nodes) => (nodes === 0 ? 0 : Math.max(1, nodes / bodyNodes)));
  }
}

/** Refuses what the type checker cannot: unknown names, functions outside the list, patterns, loops. Throws {@link PolicyError}. */
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
    // Stryker disable next-line ConditionalExpression: Only methods are searched by.
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
    if (variables.has(variable)) throw refused('VARIABLE_UNKNOWN', path, `${variable} may not be bound again`);
    if (depth + 1 > comprehensionDepthMax) {
      throw refused('NESTING_REFUSED', path, `more than ${comprehensionDepthMax} comprehensions inside each other`);
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
      // Stryker disable next-line ConditionalExpression: The parser refuses it first; this is for one that would not.
      if (comprehensions.has(node.args[0]) && loopOf(node) === null) {
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

/** A comparison with a text, a number or a short name ends at the first look. */
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
  // Stryker disable next-line OptionalChaining: A call of matches() has an operand, by the list of methods.
  if (literal?.op !== 'value' || typeof literal.args !== 'string') {
    throw refused('REGEXP_REFUSED', path, 'the pattern of matches() must be a literal');
  }
  try {
    return { text: literal.args, pattern: linearRegExp(literal.args) };
  } catch (error) {
    // Stryker disable next-line StringLiteral: The engine throws errors.
    throw refused('REGEXP_REFUSED', path, error instanceof Error ? error.message : 'not a linear regular expression');
  }
}

function refused(code: PolicyError['code'], path: string, message: string): PolicyError {
  return new PolicyError(code, path, message);
}
