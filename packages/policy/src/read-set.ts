import { argumentsDepthMax } from '@countersign/contracts';
import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, ofRules } from './expression-syntax.ts';
import { PolicyError } from './policy-error.ts';

// `__proto__` is not a path, since rebuilding a record from paths must not set a prototype.
const memberPattern = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The paths of the call that an expression may read, such as `args.amount`, `context.channel` and `action`. If a member
 * is computed or is not a plain identifier, the path ends at its container: `args[x]` reads `args`.
 */
export function readsOf(node: ASTNode, free: ReadonlySet<string> = ofRules.variables): string[] {
  const path = accessPath(node, free);
  // A loop variable is not in the dialect, so it reads nothing.
  return path === null ? childrenOf(node).flatMap((child) => readsOf(child, free)) : [path];
}

/** Sorts the paths, and removes those inside other paths. */
export function minimalReadSet(paths: Iterable<string>): string[] {
  const kept: string[] = [];
  // A path sorts directly before the paths inside it, because `.` sorts before every character of an identifier.
  for (const path of [...new Set(paths)].sort()) {
    if (kept.length === 0 || !path.startsWith(`${kept.at(-1)}.`)) kept.push(path);
  }
  return kept;
}

/** A path of a read set, its steps, and the path to each of its containers: `args`, `args.order` for `args.order.id`. */
export type ReadPath = { path: string; steps: readonly string[]; containers: readonly string[] };

/** The paths as decisions follow them. */
export function readPathsOf(readSet: readonly string[]): ReadPath[] {
  return readSet.map((path) => {
    const steps = path.split('.');
    return { path, steps, containers: steps.slice(1).map((_, depth) => steps.slice(0, depth + 1).join('.')) };
  });
}

/**
 * The maximum length of a read set's names in a record. The names are those of every read path, and of each shape on
 * the way to it (ADR 0019).
 */
const namesLengthMax = 262_144;

/** Throws {@link PolicyError} when the names of the read set are too long for a record. */
export function assertNamesFit(readSet: readonly string[]): void {
  const length = readSet.reduce((sum, path) => sum + namesLengthOf(path), 0);
  if (length > namesLengthMax)
    throw new PolicyError(
      'TOO_LARGE',
      '/rules',
      `the names of the members that the rules read have ${length} characters in total (limit ${namesLengthMax})`,
    );
}

/** Arguments have a maximum depth, and shapes are recorded only to that depth. */
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
