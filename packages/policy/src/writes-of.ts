import type { EffectLevel } from '@countersign/contracts';
import type { Intent } from './intent.ts';

const writing: ReadonlySet<EffectLevel> = new Set(['E2', 'E3', 'E4']);

/** The number of writes that a call counts for when its caller declares none. Model calls write nothing. */
export function writesOf({ action, effect_level }: Pick<Intent, 'action' | 'effect_level'>): number {
  return action !== 'model.call' && writing.has(effect_level) ? 1 : 0;
}
