import type { ASTNode } from '@marcbachmann/cel-js';

/** The variables that a rule may read. */
const ruleVariables = [
  'action',
  'tool',
  'resource',
  'principal',
  'tenant',
  'session',
  'args',
  'effect_level',
  'context',
  'relations',
  'now',
] as const;
export type RuleVariable = (typeof ruleVariables)[number];

/**
 * The variables of a kind of expression. `unbounded`: those whose values may have any size. The values of all others
 * are short names.
 */
export type Dialect = { readonly variables: ReadonlySet<string>; readonly unbounded: ReadonlySet<string> };

export const ofRules: Dialect = {
  variables: new Set(ruleVariables),
  unbounded: new Set(['args', 'context', 'relations']),
};

const permissionVariables = ['subject', 'action', 'resource', 'context', 'relations'];
/** The dialect of permissions: each variable is an object. */
export const ofPermissions: Dialect = {
  variables: new Set(permissionVariables),
  unbounded: new Set(permissionVariables),
};

/** Macros that bind a variable and run their last arguments once per element. */
export const comprehensions: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/**
 * Functions and methods by name and number of arguments. Some are omitted on purpose: bytes, cel.bind, getDayOfYear,
 * and every method with a time zone. The last two depend on the machine.
 */
export const functions: ReadonlySet<string> = new Set([
  ...['has/1', 'size/1', 'int/1', 'uint/1', 'double/1', 'string/1', 'bool/1', 'dyn/1', 'timestamp/1', 'duration/1'],
]);
export const methods: ReadonlySet<string> = new Set([
  ...['size/0', 'matches/1', 'startsWith/1', 'endsWith/1', 'contains/1', 'lowerAscii/0', 'upperAscii/0', 'trim/0'],
  ...['indexOf/1', 'indexOf/2', 'lastIndexOf/1', 'lastIndexOf/2', 'substring/1', 'substring/2', 'split/1', 'split/2'],
  ...['join/0', 'join/1', 'getFullYear/0', 'getMonth/0', 'getDate/0', 'getDayOfMonth/0', 'getDayOfWeek/0'],
  ...['getHours/0', 'getMinutes/0', 'getSeconds/0', 'getMilliseconds/0'],
  ...['all/2', 'exists/2', 'exists_one/2', 'map/2', 'map/3', 'filter/2'],
]);

export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    // Stryker disable next-line StringLiteral: The dialect has no optional members.
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}

/** A comprehension, which evaluates its bodies for each element of `range`, bound to `variable`. */
export type Loop = { readonly variable: string; readonly range: ASTNode; readonly bodies: readonly ASTNode[] };

/** `null` when the node is not a loop. */
export function loopOf(node: ASTNode): Loop | null {
  if (node.op !== 'rcall' || !comprehensions.has(node.args[0])) return null;
  const [, range, [variable, ...bodies]] = node.args;
  return variable?.op === 'id' ? { variable: variable.args, range, bodies } : null;
}
