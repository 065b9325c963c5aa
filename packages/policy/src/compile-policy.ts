import { sha256Of, type Digest } from '@countersign/contracts';
import { bundleValuesMax, type PolicyBundle, type PolicyRule } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, parsePlainJson } from '@countersign/crypto';
import type { CryptoProvider } from '@countersign/crypto';
import { ceilingsIn } from './ceilings.ts';
import { declaredInSteps, mistakingStepsMax, type DeclaredTools } from './declared-tools.ts';
import { compileExpression } from './expression.ts';
import { patternWeight } from './linear-regexp.ts';
import { policyTestsInSteps } from './policy-tests.ts';
import { assertNamesFit, minimalReadSet, readPathsOf, type ReadPath } from './read-set.ts';
import { PolicyError } from './policy-error.ts';
import { GlobSet } from './glob-set.ts';
import { compileRelations, hostedGlobsInSteps, type CompiledRelation } from './relations.ts';
import { indexInSteps } from './rule-index.ts';
import type { CompiledRule, RuleIndex } from './rule-index.ts';

export type CompiledPolicy = {
  bundle: PolicyBundle;
  /** `sha256:<hex>` over the canonical JSON (RFC 8785) of the bundle with its defaults. */
  hash: Digest;
  /** Paths of the call that some rule may read, sorted: `action`, `args.amount`, `context.channel`. */
  readSet: readonly string[];
  /** The read set as decisions follow it. */
  readPaths: readonly ReadPath[];
  rules: readonly CompiledRule[];
  byId: ReadonlyMap<string, CompiledRule>;
  index: RuleIndex;
  tools: DeclaredTools;
  /** The rules `ceiling.*`, by their canonical text. */
  ceilings: ReadonlyMap<string, string>;
  /** The relations by the name under which rules read them. */
  relations: ReadonlyMap<string, CompiledRelation>;
  /** The patterns of tools that require a relation, in canonical form. */
  hosted: GlobSet;
  /** The permitted destinations of calls. `null` when every destination is permitted. */
  egress: GlobSet | null;
};

/**
 * The maximum size of all patterns, in compiled instructions. A pattern has about one instruction for each character.
 * An instruction takes up to a kilobyte.
 */
const patternsSizeMax = 20_000;

/** How the compiler yields to other work of this thread. */
type Turns = {
  nextTurn(): Promise<unknown>;
  monotonicMs(): number;
  /** Compilation stops when this signal is aborted. */
  signal?: AbortSignal;
};

/** The milliseconds of work before the compiler yields. A step takes a millisecond or two. */
const turnMsMax = 5;

/**
 * Compiles a parsed bundle once. It checks every expression (names, types, loops, linear regular expressions), indexes
 * the rules, and runs the bundle's own tests. Throws {@link PolicyError}, also when a test fails.
 */
export function compilePolicy(bundle: PolicyBundle, provider: CryptoProvider): CompiledPolicy {
  const steps = compileInSteps(bundle, provider);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Like {@link compilePolicy}, but yields every few milliseconds, since a bundle of thousands of rules takes a second.
 * Throws the reason of `signal`.
 */
export async function compileInTurns(
  bundle: PolicyBundle,
  provider: CryptoProvider,
  { nextTurn, monotonicMs, signal }: Turns,
): Promise<CompiledPolicy> {
  const steps = compileInSteps(bundle, provider);
  let sinceMs = monotonicMs();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (monotonicMs() - sinceMs < turnMsMax) continue;
    await nextTurn();
    signal?.throwIfAborted();
    sinceMs = monotonicMs();
  }
}

function* compileInSteps(bundle: PolicyBundle, provider: CryptoProvider): Generator<void, CompiledPolicy> {
  yield* fewValuesInSteps(bundle);
  const rules: CompiledRule[] = [];
  const patterns = new PatternsOfBundle();
  for (const [position, rule] of bundle.rules.entries()) {
    const when = rule.when === undefined ? null : compileExpression(rule.when, `/rules/${position}/when`);
    rules.push({ position, rule, when });
    patterns.add(when, `/rules/${position}/when`);
    yield;
  }
  const relations = compileRelations(bundle, rules);
  const readSet = yield* readSetInSteps(rules, relations);
  const policy: CompiledPolicy = {
    bundle,
    hash: yield* hashInSteps(bundle, provider),
    readSet,
    readPaths: readPathsOf(readSet),
    rules,
    byId: new Map(rules.map((compiled) => [compiled.rule.id, compiled])),
    index: yield* indexInSteps(rules, requirementsIn(bundle)),
    tools: yield* declaredInSteps(bundle),
    ceilings: ceilingsIn(bundle.rules),
    relations,
    hosted: yield* hostedGlobsInSteps(relations),
    egress: bundle.egress === undefined ? null : yield* GlobSet.inSteps(bundle.egress),
  };
  assertGlobsFit(policy);
  yield;
  yield* policyTestsInSteps(policy);
  return policy;
}

function requirementsIn({ relations = {} }: PolicyBundle): PolicyRule['match'][] {
  return Object.values(relations).flatMap(({ required }) => required ?? []);
}

/** The longest domain name. */
const hostLengthMax = 253;
/**
 * The maximum number of characters between stars in all patterns together. They need as much memory as regular
 * expressions.
 */
const segmentsSizeMax = 20_000;
/**
 * The maximum number of steps for matching the longest call with all patterns: about a third of the work of a decision.
 */
const globStepsMax = 2_000_000;

/** Rejects a bundle whose patterns could take too long, so that no call is denied later because of them. */
function assertGlobsFit(policy: CompiledPolicy): void {
  const { index, tools, hosted, egress } = policy;
  const sets = [
    ...Object.values(index.globs.sets),
    tools.globs.canonical,
    tools.globs.written,
    hosted,
    ...(egress === null ? [] : [egress]),
  ];
  const size = sets.reduce((sum, { segmentsSize }) => sum + segmentsSize, 0);
  if (size > segmentsSizeMax)
    throw new PolicyError(
      'TOO_LARGE',
      '/rules',
      `the patterns have ${size} characters between two * in total (limit ${segmentsSizeMax}): write fewer or shorter ones`,
    );
  const steps = index.globs.stepsMax + mistakingStepsMax(tools) + (egress?.stepsMax(hostLengthMax) ?? 0);
  if (steps > globStepsMax)
    throw new PolicyError(
      'TOO_LARGE',
      '/rules',
      `matching the patterns with one call could take ${steps} steps (limit ${globStepsMax}): write fewer or shorter patterns that contain more than one *`,
    );
}

/** Limits the compiled patterns, which are kept for the life of the bundle. */
class PatternsOfBundle {
  readonly #counted = new Set<string>();
  #size = 0;

  add(when: CompiledRule['when'], path: string): void {
    for (const [text, { size }] of when?.patterns ?? []) {
      if (this.#counted.has(text)) continue;
      this.#counted.add(text);
      this.#size += size + patternWeight;
    }
    if (this.#size > patternsSizeMax)
      throw new PolicyError(
        'TOO_LARGE',
        path,
        `the regular expressions have a total size of ${this.#size} (limit ${patternsSizeMax}): write fewer or shorter ones`,
      );
  }
}

/**
 * Limits the values of a bundle from every source, so that no way of activation has a higher limit. Values are counted
 * as in a request: each container, and each value after a comma.
 */
function* fewValuesInSteps(bundle: PolicyBundle): Generator<void, void> {
  const pending: object[] = [bundle];
  let values = 0;
  for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
    const items: unknown[] = Object.values(each);
    values += Math.max(1, items.length);
    if (values > bundleValuesMax)
      throw new PolicyError('TOO_LARGE', '', `a bundle may have at most ${bundleValuesMax} values`);
    for (const item of items) if (typeof item === 'object' && item !== null) pending.push(item);
    yield;
  }
}

function* hashInSteps(bundle: PolicyBundle, provider: CryptoProvider): Generator<void, Digest> {
  const json = withoutUndefined(bundle);
  yield;
  const plain = parsePlainJson(json);
  yield;
  const bytes = canonicalBytes(plain);
  yield;
  return sha256Of(provider, bytes);
}

function* readSetInSteps(
  rules: readonly CompiledRule[],
  relations: CompiledPolicy['relations'],
): Generator<void, readonly string[]> {
  yield;
  const ofRelations = [...relations.values()].flatMap(({ reads }) => reads);
  const reads = minimalReadSet([...rules.flatMap(readsOfRule), ...ofRelations]);
  yield;
  assertNamesFit(reads);
  yield;
  return reads;
}

function readsOfRule({ rule, when }: CompiledRule): string[] {
  return [...matchedMembers(rule.match), ...(when?.reads ?? [])];
}

function matchedMembers(match: PolicyRule['match']): string[] {
  return Object.entries<unknown>(match).flatMap(([member, globs]) => (globs === undefined ? [] : [member]));
}

// A bundle that code builds may have undefined members, which JSON does not have.
function withoutUndefined(bundle: PolicyBundle): unknown {
  return JSON.parse(JSON.stringify(bundle));
}
