import type { EffectLevel } from '@countersign/contracts';

export const effectWords: Readonly<Record<EffectLevel, string>> = {
  E0: 'No effect',
  E1: 'Reads',
  E2: 'Can be undone',
  E3: 'Hard to undo',
  E4: 'Cannot be undone',
};
