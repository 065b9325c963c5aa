import { toolOfFunctionName, type EffectLevel } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { isLiteralGlob, matchesGlob } from './glob.ts';
import { foldedToolName } from './tool-name.ts';

/** The tools that a bundle declares, and those that its rules deny or escalate. */
export type DeclaredTools = {
  effects: ReadonlyMap<string, EffectLevel>;
  /** Their names by what a reader sees of them. */
  byFoldedName: ReadonlyMap<string, string>;
  /** Whole names of rules that deny or escalate, by what they mean: all spellings in which they are written. */
  restricted: ReadonlyMap<string, ReadonlySet<string>>;
  /** The patterns of such rules, as written and as they read. */
  patterns: readonly { written: string; meant: string }[];
};

export function declaredTools({ tools = {}, rules }: Pick<PolicyBundle, 'tools' | 'rules'>): DeclaredTools {
  const declared = Object.entries(tools);
  const restricting = rules.filter(({ effect }) => effect !== 'allow').flatMap(({ match }) => match.tool ?? []);
  const restricted = new Map<string, Set<string>>();
  for (const name of restricting.filter(isLiteralGlob)) {
    const spellings = restricted.get(meaningOf(name)) ?? new Set();
    restricted.set(meaningOf(name), spellings.add(name));
  }
  const globs = new Set(restricting.filter((glob) => !isLiteralGlob(glob)));
  return {
    effects: new Map(declared.map(([name, { effect_level }]) => [name, effect_level])),
    byFoldedName: new Map(declared.map(([name]) => [foldedToolName(name), name])),
    restricted,
    patterns: [...globs].map((written) => ({ written, meant: meaningOf(written) })),
  };
}

/**
 * The declared tool that this name, which is not declared itself, could be taken for; or what a rule denies or escalates under another
 * spelling, which must be no way around the rule.
 */
export function mistakenFor(
  { effects, byFoldedName, restricted, patterns }: DeclaredTools,
  name: string,
): string | null {
  const declared = effects.has(name) ? undefined : byFoldedName.get(foldedToolName(name));
  if (declared !== undefined) return declared;
  const meaning = meaningOf(name);
  const spellings = restricted.get(meaning);
  if (spellings?.has(name) === false) return [...spellings].join(', ');
  const pattern = patterns.find(({ written, meant }) => matchesGlob(meant, meaning) && !matchesGlob(written, name));
  return pattern?.written ?? null;
}

/** Names that mean one tool for some reader of them: a person, or whoever takes `files__read` for `files.read`. */
export function meaningOf(name: string): string {
  return toolOfFunctionName(foldedToolName(name));
}

/** E0 to E4 sort by gravity. */
export function graverEffect(one: EffectLevel, other: EffectLevel): EffectLevel {
  return one > other ? one : other;
}
