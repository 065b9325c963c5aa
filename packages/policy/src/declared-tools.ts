import type { EffectLevel } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { foldedToolName } from './tool-name.ts';

/** The tools that a bundle declares. */
export type DeclaredTools = {
  effects: ReadonlyMap<string, EffectLevel>;
  /** Their names by what a reader sees of them. */
  byFoldedName: ReadonlyMap<string, string>;
};

export function declaredTools({ tools = {} }: PolicyBundle): DeclaredTools {
  const declared = Object.entries(tools);
  return {
    effects: new Map(declared.map(([name, { effect_level }]) => [name, effect_level])),
    byFoldedName: new Map(declared.map(([name]) => [foldedToolName(name), name])),
  };
}

/** The declared tool that this name, which is not declared itself, could be taken for. */
export function mistakenFor({ effects, byFoldedName }: DeclaredTools, name: string): string | null {
  if (effects.size === 0 || effects.has(name)) return null;
  return byFoldedName.get(foldedToolName(name)) ?? null;
}

/** E0 to E4 sort by gravity. */
export function graverEffect(one: EffectLevel, other: EffectLevel): EffectLevel {
  return one > other ? one : other;
}
