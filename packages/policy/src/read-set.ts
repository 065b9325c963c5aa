import { argumentsDepthMax } from '@countersign/contracts';
import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, ofRules } from './expression-syntax.ts';
import { PolicyError } from './policy-error.ts';

// `__proto__` is no path: a record that is rebuilt from paths must not set a prototype.
const memberPattern = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The paths of the call that an expression may read: `args.amount`, `context.channel`, `action`. An access whose member is not
 * known before evaluation, or is no plain identifier, widens to what it is taken from: `args[x]` reads `args`.
 */
export function readsOf(node: ASTNode, free: ReadonlySet<string> = ofRules.variables): string[] {
  const path = accessPath(node, free);
  // A variable of a loop is not in the dialect, so it reads nothing.
  return path === null ? childrenOf(node).flatMap((child) => readsOf(child, free)) : [path];
}

/** Sorted, without paths that another path of the set contains. */
export function minimalReadSet(paths: Iterable<string>): string[] {
  const kept: string[] = [];
  // A path sorts directly before the paths inside it, because `.` sorts before every character of an identifier.
  for (const path of [...new Set(paths)].sort()) {
    if (kept.length === 0 || !path.startsWith(`${kept.at(-1)}.`)) kept.push(path);
  }
  return kept;
}

/** The most bytes of a read set's names in a record: every path, and each shape on the way to it (ADR 0019). */
const namesLengthMax = 262_144;

/** Throws {@link PolicyError}: what a record names of each call has to fit into it, whatever the call is. */
export function assertNamesFit(readSet: readonly string[]): void {
  const length = readSet.reduce((sum, path) => sum + namesLengthOf(path), 0);
  if (length > namesLengthMax)
    throw new PolicyError('TOO_LARGE', '/rules', `the members that the rules read have names of ${length} characters`);
}

/** Arguments end at their depth, and so do the shapes on the way. */
function namesLengthOf(path: string): number {
  let length = path.length;
  let end = path.length;
  for (let depth = 0; depth < argumentsDepthMax && end > 0; depth += 1) {
    end = path.lastIndexOf('.', end - 1);
    length += Math.max(end, 0);
  }
  return length;
}

function accessPath(node: ASTNode, free: ReadonlySet<string>): string | null {
  if (node.op === 'id') return free.has(node.args) ? node.args : null;
  const step = memberStep(node);
  if (step === null) return null;
  const parent = accessPath(step.from, free);
  return parent !== null && /^(args|context|relations)\b/.test(parent) ? `${parent}.${step.member}` : parent;
}

function memberStep(node: ASTNode): { from: ASTNode; member: string } | null {
  if (node.op !== '.' && node.op !== '[]') return null;
  const [from, key] = node.args;
  const member = typeof key === 'string' ? key : literalKey(key);
  return member !== null && memberPattern.test(member) ? { from, member } : null;
}

function literalKey(key: ASTNode): string | null {
  return key.op === 'value' && typeof key.args === 'string' ? key.args : null;
}
