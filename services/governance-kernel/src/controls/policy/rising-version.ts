import { AppError } from '@countersign/contracts';

type Versioned = { readonly version: number };

/**
 * Whether this is a new setting or the current one. Versions only rise, so a delayed setting never replaces a newer
 * one. Throws ILLEGAL_TRANSITION for an older version, and for a different setting under the current version.
 */
export function risingMove(
  current: Versioned | null,
  wanted: Versioned,
  isSame: () => boolean,
  named: 'version' | 'epoch' = 'version',
): 'set' | 'confirm' {
  if (current === null || wanted.version > current.version) return 'set';
  if (wanted.version === current.version && isSame()) return 'confirm';
  throw new AppError('ILLEGAL_TRANSITION', `The ${named} must rise above ${current.version}`, {
    param: named,
    details: { [named]: current.version, allowed: [] },
  });
}
