import { toolOfFunctionName, type EffectLevel } from '@countersign/contracts';
import type { IdentityDemand, PolicyBundle } from '@countersign/contracts/governance-kernel';
import { matchedLengths } from './call-globs.ts';
import { GlobSet } from './glob-set.ts';
import { isLiteralGlob } from './glob.ts';
import { remembered } from './remembered.ts';
import { foldedToolName } from './tool-name.ts';
import { decisionWork, type Work } from './work.ts';

/**
 * The tools that a bundle declares, and those that it restricts: denied or escalated by its rules, or requiring a
 * relation.
 */
export type DeclaredTools = {
  effects: ReadonlyMap<string, EffectLevel>;
  /** The highest effect of all spellings of a tool, by canonical name. */
  effectsMeant: ReadonlyMap<string, EffectLevel>;
  /** The requirements of tools for their caller, by the canonical name of the tool. */
  identities: ReadonlyMap<string, readonly IdentityDemand[]>;
  /** The tools that require a sandbox, by canonical name. */
  sandboxed: ReadonlySet<string>;
  /** The tools that only the kernel may send, by canonical name. */
  keptInside: ReadonlySet<string>;
  /** The owner's sentences about calls of a tool, by the canonical name of the tool. */
  sentences: ReadonlyMap<string, string>;
  /** The declared tool names, by the form in which readers see them. */
  byFoldedName: ReadonlyMap<string, string>;
  /** Restricted whole names by canonical name, with all their written spellings. */
  restricted: ReadonlyMap<string, ReadonlySet<string>>;
  /** The restricted patterns, as written and in canonical form. */
  patterns: readonly { written: string; canonical: string }[];
  /** The restricted patterns in both forms, compiled. */
  globs: { written: GlobSet; canonical: GlobSet };
};

type Declaring = Pick<PolicyBundle, 'tools' | 'rules' | 'relations'>;

export function* declaredInSteps({ tools = {}, ...bundle }: Declaring): Generator<void, DeclaredTools> {
  const effects = new Map<string, EffectLevel>();
  const effectsMeant = new Map<string, EffectLevel>();
  const byFoldedName = new Map<string, string>();
  const identities = new Map<string, IdentityDemand[]>();
  const sandboxed = new Set<string>();
  const keptInside = new Set<string>();
  const sentences = new Map<string, string>();
  for (const [name, { effect_level, identity = [], sandbox, dispatched_by, says }] of Object.entries(tools)) {
    effects.set(name, effect_level);
    effectsMeant.set(meaningOf(name), graverEffect(effect_level, effectsMeant.get(meaningOf(name)) ?? 'E0'));
    byFoldedName.set(foldedToolName(name), name);
    if (sandbox === true) sandboxed.add(meaningOf(name));
    if (dispatched_by === 'kernel') keptInside.add(meaningOf(name));
    if (says !== undefined) sentences.set(meaningOf(name), says);
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
    sentences,
    byFoldedName,
    restricted,
    patterns: [...patterns].map(([written, canonical]) => ({ written, canonical })),
    globs: {
      written: yield* GlobSet.inSteps(patterns.keys()),
      canonical: yield* GlobSet.inSteps(patterns.values()),
    },
  };
}

function* restrictedNames({ rules, relations = {} }: Omit<Declaring, 'tools'>): Generator<string> {
  for (const { effect, match } of rules) if (effect !== 'allow') yield* match.tool ?? [];
  for (const { required } of Object.values(relations)) yield* required?.tool ?? [];
}

/**
 * The declared tool that an undeclared name could be confused with, or a restriction that another spelling would
 * bypass. When the work is used up, the name counts as confusable.
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

/** The first restricted pattern that matches in canonical form, but not as pattern and name are written. */
function patternMeant(
  { patterns, globs }: DeclaredTools,
  { name, meaning }: { name: string; meaning: string },
  work: Work,
): string | null {
  const meant = globs.canonical.matching(meaning, work);
  if (meant.size === 0) return null;
  const written = globs.written.matching(name, work);
  const found = patterns.find((each) => work.takeSteps(1) && meant.has(each.canonical) && !written.has(each.written));
  return found?.written ?? null;
}

/** The maximum length of a canonical name. NFKC expands one character to at most 18 characters. */
const meaningLengthMax = 18 * matchedLengths.tool;

/** The maximum number of steps of {@link mistakenFor}. */
export function mistakingStepsMax({ patterns, globs }: DeclaredTools): number {
  return globs.canonical.stepsMax(meaningLengthMax) + globs.written.stepsMax(matchedLengths.tool) + patterns.length;
}

/**
 * The canonical form of a tool name. All names that a person or a client could read as the same tool have the same
 * form. Some clients read `files__read` as `files.read`.
 */
export const meaningOf = remembered((name) => toolOfFunctionName(foldedToolName(name)));

/**
 * The effect that the bundle declares for a tool. A registered tool is found under any alias, and a tool of the caller
 * only under this name.
 */
export function effectDeclared(
  { effects, effectsMeant }: Pick<DeclaredTools, 'effects' | 'effectsMeant'>,
  { tool, isOwn }: { tool: string; isOwn: boolean },
): EffectLevel | undefined {
  return isOwn ? effects.get(tool) : effectsMeant.get(meaningOf(tool));
}

/** The owner's sentence about calls of this tool, or `null`. */
export function sentenceFor({ sentences }: Pick<DeclaredTools, 'sentences'>, tool: string): string | null {
  return sentences.get(meaningOf(tool)) ?? null;
}

/** All canonical names that this name could mean, since `files.read` may also be written as `files_read`. */
export const meaningsOf = remembered((name): readonly string[] => {
  const meaning = meaningOf(name);
  return [...new Set([meaning, meaning.replace('.', '_')])];
});

/**
 * An ambiguous alias: the bundle declares or restricts the alias as it is written, but not the name of the registered
 * tool. `null` when the alias is not ambiguous.
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

/** The higher of two effects. The texts E0 to E4 sort by severity. */
export function graverEffect(one: EffectLevel, declared: EffectLevel): EffectLevel {
  // Stryker disable next-line EqualityOperator: Two equal effects are both the higher one.
  return one > declared ? one : declared;
}
