import { toolOfFunctionName, type EffectLevel } from '@countersign/contracts';
import type { IdentityDemand, PolicyBundle } from '@countersign/contracts/governance-kernel';
import { matchedLengths } from './call-globs.ts';
import { GlobSet } from './glob-set.ts';
import { isLiteralGlob } from './glob.ts';
import { foldedToolName } from './tool-name.ts';
import { decisionWork, type Work } from './work.ts';

/** The tools that a bundle declares, and those that it restricts: that its rules deny or escalate, or for which it requires a relation. */
export type DeclaredTools = {
  effects: ReadonlyMap<string, EffectLevel>;
  /** The gravest of all spellings of a tool, by what its name means. */
  effectsMeant: ReadonlyMap<string, EffectLevel>;
  /** The demands on their caller, by the meaning of their names. */
  identities: ReadonlyMap<string, readonly IdentityDemand[]>;
  /** Those that need a sandbox, by what their names mean. */
  sandboxed: ReadonlySet<string>;
  /** Those that only the kernel may send, by what their names mean. */
  keptInside: ReadonlySet<string>;
  /** Their names by what a reader sees of them. */
  byFoldedName: ReadonlyMap<string, string>;
  /** Whole names that are restricted, by what they mean: all spellings in which they are written. */
  restricted: ReadonlyMap<string, ReadonlySet<string>>;
  /** The patterns among them, as written and as they read. */
  patterns: readonly { written: string; meant: string }[];
  /** The same, compiled. */
  globs: { written: GlobSet; meant: GlobSet };
};

type Declaring = Pick<PolicyBundle, 'tools' | 'rules' | 'relations'>;

export function* declaredInSteps({ tools = {}, ...bundle }: Declaring): Generator<void, DeclaredTools> {
  const effects = new Map<string, EffectLevel>();
  const effectsMeant = new Map<string, EffectLevel>();
  const byFoldedName = new Map<string, string>();
  const identities = new Map<string, IdentityDemand[]>();
  const sandboxed = new Set<string>();
  const keptInside = new Set<string>();
  for (const [name, { effect_level, identity = [], sandbox, dispatched_by }] of Object.entries(tools)) {
    effects.set(name, effect_level);
    effectsMeant.set(meaningOf(name), graverEffect(effect_level, effectsMeant.get(meaningOf(name)) ?? 'E0'));
    byFoldedName.set(foldedToolName(name), name);
    if (sandbox === true) sandboxed.add(meaningOf(name));
    if (dispatched_by === 'kernel') keptInside.add(meaningOf(name));
    if (identity.length > 0) {
      const meant = meaningOf(name);
      identities.set(meant, [...(identities.get(meant) ?? []), ...identity]);
    }
    yield;
  }
  const restricted = new Map<string, Set<string>>();
  const patterns = new Map<string, string>();
  for (const name of restrictedNames(bundle)) {
    const meant = meaningOf(name);
    if (isLiteralGlob(name)) restricted.set(meant, (restricted.get(meant) ?? new Set()).add(name));
    else patterns.set(name, meant);
    yield;
  }
  return {
    effects,
    effectsMeant,
    identities,
    sandboxed,
    keptInside,
    byFoldedName,
    restricted,
    patterns: [...patterns].map(([written, meant]) => ({ written, meant })),
    globs: {
      written: yield* GlobSet.inSteps(patterns.keys()),
      meant: yield* GlobSet.inSteps(patterns.values()),
    },
  };
}

function* restrictedNames({ rules, relations = {} }: Omit<Declaring, 'tools'>): Generator<string> {
  for (const { effect, match } of rules) if (effect !== 'allow') yield* match.tool ?? [];
  for (const { required } of Object.values(relations)) yield* required?.tool ?? [];
}

/**
 * The declared tool that this name, which is not declared itself, could be taken for; or what the bundle restricts under another
 * spelling, which must be no way around that. Where the work is spent, the name could be taken for anything.
 */
export function mistakenFor(tools: DeclaredTools, name: string, work = decisionWork()): string | null {
  const { effects, byFoldedName, restricted } = tools;
  const declared = effects.has(name) ? undefined : byFoldedName.get(foldedToolName(name));
  if (declared !== undefined) return declared;
  const meaning = meaningOf(name);
  const spellings = restricted.get(meaning);
  if (spellings?.has(name) === false) return [...spellings].join(', ');
  const pattern = patternMeant(tools, { name, meaning }, work);
  return work.isSpent ? '*' : pattern;
}

/** The first pattern that the name matches as it reads, and not as it is written. */
function patternMeant(
  { patterns, globs }: DeclaredTools,
  { name, meaning }: { name: string; meaning: string },
  work: Work,
): string | null {
  const meant = globs.meant.matching(meaning, work);
  if (meant.size === 0) return null;
  const written = globs.written.matching(name, work);
  const found = patterns.find((each) => work.takeSteps(1) && meant.has(each.meant) && !written.has(each.written));
  return found?.written ?? null;
}

/** The longest {@link meaningOf} a name: NFKC makes up to 18 characters of one. */
const meaningLengthMax = 18 * matchedLengths.tool;

/** The most steps that {@link mistakenFor} takes. */
export function mistakingStepsMax({ patterns, globs }: DeclaredTools): number {
  return globs.meant.stepsMax(meaningLengthMax) + globs.written.stepsMax(matchedLengths.tool) + patterns.length;
}

/**
 * The common form of names that mean one tool to some reader: a person, or a client that reads `files__read` as
 * `files.read`.
 */
export function meaningOf(name: string): string {
  return toolOfFunctionName(foldedToolName(name));
}

/**
 * The effect that the bundle declares of a tool: of a registered one under any alias, of its caller's own under this
 * name only.
 */
export function effectDeclared(
  { effects, effectsMeant }: Pick<DeclaredTools, 'effects' | 'effectsMeant'>,
  { tool, isOwn }: { tool: string; isOwn: boolean },
): EffectLevel | undefined {
  return isOwn ? effects.get(tool) : effectsMeant.get(meaningOf(tool));
}

/** All names under which a control of a tool is kept that this name could mean: `files.read` is `files_read` as well. */
export function meaningsOf(name: string): string[] {
  const meaning = meaningOf(name);
  return [...new Set([meaning, meaning.replace('.', '_')])];
}

/**
 * The declaration or restriction that the bundle has under an alias as it is written, and not under the name of the
 * registered tool. Such an alias is ambiguous. `null` when there is none.
 */
export function declaredApart(
  tools: DeclaredTools,
  { alias, tool }: { alias: string; tool: string },
  work = decisionWork(),
): string | null {
  const isDeclaredApart = tools.effects.has(alias) && meaningOf(alias) !== meaningOf(tool);
  if (isDeclaredApart || tools.restricted.get(meaningOf(alias))?.has(alias) === true) return alias;
  const asWritten = tools.globs.written.matching(alias, work);
  if (asWritten.size === 0) return work.isSpent ? '*' : null;
  const asMeant = tools.globs.written.matching(tool, work);
  const apart = [...asWritten].find((pattern) => work.takeSteps(1) && !asMeant.has(pattern));
  return work.isSpent ? '*' : (apart ?? null);
}

/** E0 to E4 sort by gravity. */
export function graverEffect(one: EffectLevel, declared: EffectLevel): EffectLevel {
  // Stryker disable next-line EqualityOperator: If two effects are equally grave, each is the graver one.
  return one > declared ? one : declared;
}
