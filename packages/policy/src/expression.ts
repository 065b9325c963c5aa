import { Environment } from '@marcbachmann/cel-js';
import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, ofPermissions, ofRules, type Dialect } from './expression-syntax.ts';
import { boundLoops } from './bound-loops.ts';
import { holdWork, paidRangeError, payForError } from './held-work.ts';
import { inspectExpression } from './inspect-expression.ts';
import type { Inspection } from './inspect-expression.ts';
import type { LinearRegExp } from './linear-regexp.ts';
import { PolicyError } from './policy-error.ts';
import { readsOf } from './read-set.ts';
import { spanOf } from './span.ts';
import { textSearches } from './text-search.ts';
import type { Work } from './work.ts';

export type Expression = Inspection & {
  reads: string[];
  /**
   * Throws on every CEL error. The value may have any type if its type is known only at run time. Searches for a text
   * from the call consume `work`, and so do errors that a loop ignores. Throws when the work is used up.
   */
  evaluate: (variables: Readonly<Record<string, unknown>>, work: Work) => unknown;
};

const timestampType = 'google.protobuf.Timestamp';
const rfc3339Pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const secondsMax = 253_402_300_799n; // 9999-12-31T23:59:59Z
const durationType = 'google.protobuf.Duration';
/**
 * `matches` and `duration` of the library backtrack, and its `timestamp` reads a text without a zone as local time.
 * These functions replace them.
 */
const replacements: Readonly<Record<string, string>> = {
  matches: 'linearMatches',
  timestamp: 'instant',
  duration: 'span',
};
/**
 * The cost of these searches in the library is the product of both lengths. They are replaced unless the text to find
 * is a literal in the policy.
 */
const searches: Readonly<Record<string, string>> = {
  contains: 'boundedContains',
  indexOf: 'boundedIndexOf',
  lastIndexOf: 'boundedLastIndexOf',
  split: 'boundedSplit',
};

/**
 * The patterns of the expression that is being evaluated. They are module state, since functions of CEL receive only
 * their operands. The expression keeps its patterns for its whole life.
 */
let patternsHeld: ReadonlyMap<string, LinearRegExp> = new Map();

/**
 * An error of the library contains the line of its expression, and finding the line takes longer in a longer text. This
 * getter returns no line. The library reads the line once for each error, so the getter also consumes the cost of the
 * error.
 */
function withoutLines(environment: Environment): Environment {
  const nodes: object = Object.getPrototypeOf(environment.parse('true').ast) as object; // each node has a prototype
  Object.defineProperty(nodes, 'input', { configurable: true, get: payForError });
  return environment;
}

const environments = new Map([
  [ofRules, withoutLines(ruleEnvironment())],
  [ofPermissions, permissionEnvironment()],
]);

/**
 * Compiles one `when`. Throws {@link PolicyError} unless the expression is boolean or dynamic, stays within the limits,
 * and uses only known names.
 */
export function compileExpression(text: string, path: string, dialect: Dialect = ofRules): Expression {
  const ast = parseCel(text, path, dialect).ast;
  const inspection = inspectExpression(ast, path, dialect);
  const program = parseCel(replaceCalls(text, ast, path), path, dialect);
  if (callsToReplace(program.ast).length > 0)
    // Stryker disable next-line StringLiteral: The syntax tree contains each call. This check is a safeguard.
    throw new PolicyError('EXPRESSION_INVALID', path, 'a function call could not be compiled. Write it without macros');
  const checked = program.check();
  if (!checked.valid) throw new PolicyError('EXPRESSION_INVALID', path, firstLine(checked.error));
  if (checked.type !== 'bool' && checked.type !== 'dyn') {
    throw new PolicyError(
      'EXPRESSION_NOT_BOOLEAN',
      path,
      `the expression is ${checked.type ?? 'of unknown type'}, not bool`,
    );
  }
  boundLoops(program.ast, path);
  return {
    ...inspection,
    reads: readsOf(ast, dialect.variables),
    evaluate: (variables, work) => {
      patternsHeld = inspection.patterns;
      holdWork(work);
      const value = withoutTraces(() => program(variables) as unknown);
      // CEL may ignore the error of used-up work, as in `true || error`. The work is therefore checked again.
      if (work.isSpent) throw new RangeError('the condition costs more than the work limit of a decision');
      return value;
    },
  };
}

/** `stackTraceLimit` is an extension of V8. */
const errors = Error as ErrorConstructor & { stackTraceLimit?: number };

/**
 * A loop of CEL continues after an error, so an expression can create an error for each element. The unused stack trace
 * is most of the cost of an error.
 */
function withoutTraces<Result>(evaluate: () => Result): Result {
  const { stackTraceLimit = 0 } = errors;
  errors.stackTraceLimit = 0;
  try {
    return evaluate();
  } finally {
    errors.stackTraceLimit = stackTraceLimit;
  }
}

function ruleEnvironment(): Environment {
  const cel = boundedEnvironment();
  for (const name of ['action', 'principal', 'tenant', 'session', 'effect_level']) cel.registerVariable(name, 'string');
  // Dynamic, because `tool` and `resource` may be `null`.
  for (const name of ['tool', 'resource']) cel.registerVariable(name, 'dyn');
  for (const name of ['args', 'context', 'relations']) cel.registerVariable(name, 'map');
  return cel.registerVariable('now', timestampType);
}

function permissionEnvironment(): Environment {
  const cel = boundedEnvironment();
  for (const name of ofPermissions.variables) cel.registerVariable(name, 'map');
  return cel;
}

function boundedEnvironment(): Environment {
  const cel = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 2000, maxDepth: 64, maxListElements: 500, maxMapEntries: 100 },
  });
  cel.registerFunction('string.linearMatches(string): bool', matchesHeld);
  for (const [signature, search] of Object.entries(textSearches)) cel.registerFunction(`string.${signature}`, search);
  cel.registerFunction(`instant(string): ${timestampType}`, instantOfText);
  cel.registerFunction(`instant(int): ${timestampType}`, instantOfSeconds);
  cel.registerFunction(`span(string): ${durationType}`, spanOf);
  return cel;
}

function matchesHeld(text: string, pattern: string): boolean {
  const cached = patternsHeld.get(pattern);
  // Stryker disable next-line ConditionalExpression: Every expression is evaluated with its patterns.
  if (cached === undefined) throw new Error('An expression is evaluated without its patterns');
  return cached.test(text);
}

function instantOfText(text: string): Date {
  if (!rfc3339Pattern.test(text) || Number.isNaN(Date.parse(text)))
    throw paidRangeError('timestamp() needs RFC 3339 with a zone');
  return new Date(text);
}

function instantOfSeconds(seconds: bigint): Date {
  if (seconds < 0n || seconds > secondsMax) throw paidRangeError('timestamp() out of range');
  return new Date(Number(seconds) * 1000);
}

function parseCel(text: string, path: string, dialect: Dialect): ReturnType<Environment['parse']> {
  try {
    const environment = environments.get(dialect) ?? boundedEnvironment(); // an environment without variables
    return environment.parse(text);
  } catch (error) {
    throw new PolicyError('EXPRESSION_INVALID', path, firstLine(error));
  }
}

// The library cannot override a built-in function, so the call is renamed in the text, at the position in the syntax
// tree.
function replaceCalls(text: string, ast: ASTNode, path: string): string {
  let replaced = text;
  for (const node of callsToReplace(ast).sort(
    (left, right) => nameStart(right, text, path) - nameStart(left, text, path),
  )) {
    const name = node.args[0];
    const start = nameStart(node, text, path);
    replaced = `${replaced.slice(0, start)}${replacementOf(node) ?? name}${replaced.slice(start + name.length)}`;
  }
  return replaced;
}

type CallNode = Extract<ASTNode, { op: 'call' | 'rcall' }>;

function callsToReplace(node: ASTNode): CallNode[] {
  const inner = childrenOf(node).flatMap(callsToReplace);
  const isCall = node.op === 'call' || node.op === 'rcall';
  return isCall && replacementOf(node) !== undefined ? [node, ...inner] : inner;
}

function replacementOf(node: CallNode): string | undefined {
  const [name] = node.args;
  if (Object.hasOwn(replacements, name)) return replacements[name];
  if (node.op === 'call' || node.args[2][0]?.op === 'value' || !Object.hasOwn(searches, name)) return undefined;
  return searches[name];
}

function nameStart(node: CallNode, text: string, path: string): number {
  const name = node.args[0];
  if (node.op === 'call' && text.startsWith(name, node.range.start)) return node.range.start;
  // Stryker disable next-line ConditionalExpression: Every other call begins with its name.
  if (node.op === 'rcall') {
    const from = node.args[1].range.end;
    const [dot] = new RegExp(`^[\\s)]*\\.\\s*(?=${name}\\s*\\()`).exec(text.slice(from)) ?? [];
    if (dot !== undefined) return from + dot.length;
  }
  throw new PolicyError('EXPRESSION_INVALID', path, `write ${name}(…) without a comment before the parenthesis`);
}

function firstLine(error: unknown): string {
  // Stryker disable next-line StringLiteral: The parser throws errors.
  return error instanceof Error ? (error.message.split('\n')[0] ?? error.message) : 'not CEL';
}
