import { AppError } from '@countersign/contracts';

type Versioned = { readonly version: number };

/**
 * Is this a new setting, or the one that stands? Versions only rise, so a setting that comes late never undoes a later one. Throws
 * ILLEGAL_TRANSITION for an older version, and for another setting under the same one.
 */
export function risingMove(
  standing: Versioned | null,
  wanted: Versioned,
  isSame: () => boolean,
  named: 'version' | 'epoch' = 'version',
): 'set' | 'confirm' {
  if (standing === null || wanted.version > standing.version) return 'set';
  if (wanted.version === standing.version && isSame()) return 'confirm';
  throw new AppError('ILLEGAL_TRANSITION', `The ${named} must rise above ${standing.version}`, {
    param: named,
    details: { [named]: standing.version, allowed: [] },
  });
}
