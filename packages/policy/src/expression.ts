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
   * Throws on every CEL error; the value may be anything where the type is only known at run time. Searches for what the call brings, and
   * errors that a loop passes over, take their work from `work`. Throws where it is spent.
   */
  evaluate: (variables: Readonly<Record<string, unknown>>, work: Work) => unknown;
};

const timestampType = 'google.protobuf.Timestamp';
const rfc3339Pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const secondsMax = 253_402_300_799n; // 9999-12-31T23:59:59Z
const durationType = 'google.protobuf.Duration';
/** The library's `matches` and `duration` backtrack, and its `timestamp` reads a text without zone as local time: ours stand in for them. */
const replacements: Readonly<Record<string, string>> = {
  matches: 'linearMatches',
  timestamp: 'instant',
  duration: 'span',
};
/** Its searches are as slow as both texts are long. Ours stand in where the text that is sought is not the policy's own. */
const searches: Readonly<Record<string, string>> = {
  contains: 'boundedContains',
  indexOf: 'boundedIndexOf',
  lastIndexOf: 'boundedLastIndexOf',
  split: 'boundedSplit',
};

/**
 * The patterns of the expression that is being evaluated, which holds them for as long as it lives: functions of CEL
 * receive only their operands.
 */
let patternsHeld: ReadonlyMap<string, LinearRegExp> = new Map();

/**
 * An error of the library holds the line of the expression that it is about, which takes as long as the text is. Ours hold none. The
 * library looks for the line once for each error that it makes, and that is where an error is paid for.
 */
function withoutLines(environment: Environment): Environment {
  const nodes: object = Object.getPrototypeOf(environment.parse('true').ast) as object; // an object has a prototype of objects
  Object.defineProperty(nodes, 'input', { configurable: true, get: payForError });
  return environment;
}

const environments = new Map([
  [ofRules, withoutLines(ruleEnvironment())],
  [ofPermissions, permissionEnvironment()],
]);

/** Compiles one `when`. Throws {@link PolicyError} unless it is boolean (or dynamic), within the limits, and of known names. */
export function compileExpression(text: string, path: string, dialect: Dialect = ofRules): Expression {
  const ast = parseCel(text, path, dialect).ast;
  const inspection = inspectExpression(ast, path, dialect);
  const program = parseCel(replaceCalls(text, ast, path), path, dialect);
  if (callsToReplace(program.ast).length > 0)
    // Stryker disable next-line StringLiteral: The syntax tree says where each call is; this stands for a tree that would not.
    throw new PolicyError('EXPRESSION_INVALID', path, 'a call that has a safe form could not be replaced');
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
      // CEL goes on behind an error: `true || error` is true.
      if (work.isSpent) throw new RangeError('the condition takes more than the work of a decision');
      return value;
    },
  };
}

/** An extension of V8. */
const errors = Error as ErrorConstructor & { stackTraceLimit?: number };

/**
 * A loop of CEL goes on behind an error, so an expression can make one for each element. Most of what an error costs is the trace of its
 * stack, which is not read.
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
  // Null where the call names none.
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
    const environment = environments.get(dialect) ?? boundedEnvironment(); // which knows no variable
    return environment.parse(text);
  } catch (error) {
    throw new PolicyError('EXPRESSION_INVALID', path, firstLine(error));
  }
}

// The library has no way to override a built-in function, so the call is renamed in the text, where the syntax tree says it is.
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
  throw new PolicyError('EXPRESSION_INVALID', path, `write ${name}(…) without comments in between`);
}

function firstLine(error: unknown): string {
  // Stryker disable next-line StringLiteral: The parser throws errors.
  return error instanceof Error ? (error.message.split('\n')[0] ?? error.message) : 'not CEL';
}
