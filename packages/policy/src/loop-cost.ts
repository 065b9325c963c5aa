import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, loopOf, type Loop } from './expression-syntax.ts';

/**
 * A variable that a loop binds, with the depth of that loop. Its values in all rounds are as large as the call,
 * multiplied by the number of elements to the power of `power`.
 */
type Bound = { depth: number; power: number };
type Scope = Terms & { bound: ReadonlyMap<string, Bound>; depth: number };
/** `unbounded`: the variables of any size. The other variables are short names. */
type Terms = { priced: Priced; unbounded: ReadonlySet<string> };
/** Methods whose reads are counted elsewhere, by name. */
type Priced = Readonly<Record<string, number>>;

const short = -1;
const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const answersInText: ReadonlySet<string> = new Set([
  ...['lowerAscii', 'upperAscii', 'trim', 'substring', 'split', 'join', 'map', 'filter', 'string', 'dyn'],
]);
const readsNothing: ReadonlySet<string> = new Set(['has', 'dyn']);

/**
 * Counts the operations in loops that read whole texts and lists again. Entry n counts those that read all values of
 * the call as many times as the number of elements to the power of n. The result is empty when each value is read once,
 * as in `args.urls.all(u, u.startsWith('https:'))`. `args.names.all(n, n in args.known)` counts as one at power 1.
 */
export function rereadings(root: ASTNode, terms: Terms): number[] {
  const counts: number[] = [];
  visitInScope(root, outside(terms), (node, scope) => {
    const power = readingOf(node, scope);
    if (power <= 0) return;
    while (counts.length <= power) counts.push(0);
    counts[power] = (counts[power] ?? 0) + 1;
  });
  return counts;
}

/**
 * Counts each `+` that may concatenate lists, by power as in `rereadings`. A list is copied value by value. An
 * operation that copies each value once, inside or outside of a loop, counts at power 0.
 */
export function concatenations(root: ASTNode, terms: Terms): number[] {
  const counts: number[] = [];
  visitInScope(root, outside(terms), (node, scope) => {
    if (node.op !== '+' || node.args.some(isNoList)) return;
    const power = Math.max(0, sizeOfAll(node.args, scope));
    while (counts.length <= power) counts.push(0);
    counts[power] = (counts[power] ?? 0) + 1;
  });
  return counts;
}

/**
 * Counts each comparison that may be between objects, by power as in `rereadings`. The library looks at all names of
 * both objects, even if one has few. Comparisons that look at each object once are counted elsewhere.
 */
export function enumerations(root: ASTNode, terms: Terms): number[] {
  const counts: number[] = [];
  visitInScope(root, outside(terms), (node, scope) => {
    const power = enumeratedBy(node, scope);
    if (power <= 0) return;
    while (counts.length <= power) counts.push(0);
    counts[power] = (counts[power] ?? 0) + 1;
  });
  return counts;
}

function enumeratedBy(node: ASTNode, scope: Scope): number {
  if (node.op !== '==' && node.op !== '!=' && node.op !== 'in') return short;
  const [left, right] = node.args;
  if (left.op === 'value' || (node.op !== 'in' && right.op === 'value')) return short;
  const [ofLeft, ofRight] = [sizeOf(left, scope), sizeOf(right, scope)];
  return node.op === 'in' ? Math.max(Math.max(0, ofLeft) + 1, ofRight) : Math.max(ofLeft, ofRight);
}

/** Functions and methods that may return a list. No other result can be concatenated with a list. */
const answersInLists: ReadonlySet<string> = new Set(['dyn', 'split', 'map', 'filter']);
const isOfNumbers: ReadonlySet<string> = new Set(['-', '*', '/', '%', '-_']);

function isNoList(node: ASTNode): boolean {
  switch (node.op) {
    case 'value':
    case 'map':
      return true;
    case 'call':
    case 'rcall':
      return !answersInLists.has(node.args[0]);
    case '+':
      return node.args.some(isNoList);
    default:
      return isOfNumbers.has(node.op);
  }
}

/** The reads of each call of a priced method in all rounds, as a power of the number of elements. */
export function searchingPowers(root: ASTNode, terms: Terms): ReadonlyMap<ASTNode, number> {
  const powers = new Map<ASTNode, number>();
  visitInScope(root, outside(terms), (node, scope) => {
    if (node.op !== 'rcall' || !Object.hasOwn(scope.priced, node.args[0])) return;
    const [, receiver, operands] = node.args;
    powers.set(node, Math.max(0, sizeOfReceiver(receiver, scope), sizeOfAll(operands, scope)));
  });
  return powers;
}

const outside = (terms: Terms): Scope => ({ bound: new Map(), depth: 0, ...terms });

function visitInScope(node: ASTNode, scope: Scope, see: (node: ASTNode, scope: Scope) => void): void {
  const loop = loopOf(node);
  if (loop === null) {
    see(node, scope);
    for (const child of childrenOf(node)) visitInScope(child, scope, see);
    return;
  }
  visitInScope(loop.range, scope, see);
  const inner = insideOf(loop, scope, sizeOf(loop.range, scope));
  for (const body of loop.bodies) visitInScope(body, inner, see);
}

/** `ofRange` is a parameter because computing it here would double the work for each loop of a chain. */
function insideOf({ variable }: Loop, scope: Scope, ofRange: number): Scope {
  const power = Math.max(0, ofRange);
  const depth = scope.depth + 1;
  return { ...scope, bound: new Map(scope.bound).set(variable, { depth, power }), depth };
}

/** The reads of the operation itself, without those of its operands. */
function readingOf(node: ASTNode, scope: Scope): number {
  switch (node.op) {
    case 'in':
      return sizeOfAll(node.args, scope);
    case '[]':
      return sizeOf(node.args[1], scope);
    case 'map':
      return sizeOfAll(
        node.args.map(([key]) => key),
        scope,
      );
    case 'call':
      return readsNothing.has(node.args[0]) ? short : sizeOfAll(node.args[1], scope);
    case 'rcall': {
      const [method, receiver, operands] = node.args;
      if (Object.hasOwn(scope.priced, method)) return short;
      return Math.max(
        sizeOfReceiver(receiver, scope),
        ...operands.map((operand) => (method === 'join' ? sizeBetween(operand, scope) : sizeBuilt(operand, scope))),
      );
    }
    default:
      return comparisons.has(node.op) ? sizeCompared(childrenOf(node), scope) : short;
  }
}

/** A comparison reads no more than the shorter value. A concatenation is built in full before it is compared. */
function sizeCompared(sides: readonly ASTNode[], scope: Scope): number {
  const alike = Math.min(...sides.map((side) => sizeOf(side, scope)));
  if (sides.some(isNumber)) return alike;
  return Math.max(alike, ...sides.map((side) => sizeBuilt(side, scope)));
}

/** Whether the node is a number, and so also any value that it is compared with. */
function isNumber(node: ASTNode): boolean {
  return node.op === '-_' || (node.op === 'value' && typeof node.args !== 'string');
}

/** The size of values that must be built before they are read. */
function sizeBuilt(node: ASTNode, scope: Scope): number {
  switch (node.op) {
    case '+':
      return sizeOf(node, scope);
    case '?:':
    case 'list':
    case 'map':
      return Math.max(short, ...childrenOf(node).map((child) => sizeBuilt(child, scope)));
    default:
      return short;
  }
}

/** The total size of this node's values in all rounds of its loops, as a power of the number of elements. */
function sizeOf(node: ASTNode, scope: Scope): number {
  switch (node.op) {
    case 'id': {
      const bound = scope.bound.get(node.args);
      if (bound !== undefined) return bound.power + scope.depth - bound.depth;
      return scope.unbounded.has(node.args) ? scope.depth : short;
    }
    case '.':
    // Stryker disable next-line StringLiteral: The dialect has no optional members.
    case '.?':
    case '[]':
    // Stryker disable next-line StringLiteral: The dialect has no optional members.
    case '[?]':
      return sizeOf(node.args[0], scope);
    case '?:':
    case '+':
    case 'list':
    case 'map':
      return sizeOfAll(childrenOf(node), scope);
    case 'call':
      return answersInText.has(node.args[0]) ? sizeOfAll(node.args[1], scope) : short;
    case 'rcall':
      return sizeOfAnswer(node, scope);
    default:
      return short; // literals, booleans and numbers
  }
}

function sizeOfAnswer(node: Extract<ASTNode, { op: 'rcall' }>, scope: Scope): number {
  const [method, receiver, operands] = node.args;
  if (!answersInText.has(method)) return short;
  const loop = loopOf(node);
  if (loop === null && method !== 'join') return sizeOf(receiver, scope);
  if (loop === null) return Math.max(sizeOf(receiver, scope), ...operands.map((each) => sizeBetween(each, scope)));
  const ofRange = sizeOf(loop.range, scope);
  if (method === 'filter') return ofRange;
  return Math.max(ofRange, sizeOfAll(loop.bodies, insideOf(loop, scope, ofRange)));
}

/** The separator of `join` is repeated for each element. */
function sizeBetween(operand: ASTNode, scope: Scope): number {
  const size = sizeOf(operand, scope);
  return size === short ? short : size + 1;
}

function sizeOfAll(nodes: readonly ASTNode[], scope: Scope): number {
  return Math.max(short, ...nodes.map((node) => sizeOf(node, scope)));
}

/** Patterns and searches read even a short name in full, in each round. */
function sizeOfReceiver(receiver: ASTNode, scope: Scope): number {
  return receiver.op === 'id' && !scope.bound.has(receiver.args) ? scope.depth : sizeOf(receiver, scope);
}
