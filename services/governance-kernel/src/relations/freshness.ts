import { confirmationSkewMaxMs } from '@countersign/policy';
import type { RelationHead } from './relation-heads.ts';

/** As the relationship gate judges it. */
export function isFresh(
  { confirmedAtMs }: Pick<RelationHead, 'confirmedAtMs'>,
  { nowMs, ageMaxMs }: { nowMs: number; ageMaxMs: number },
): boolean {
  const ageMs = nowMs - confirmedAtMs;
  return ageMs <= ageMaxMs && ageMs >= -confirmationSkewMaxMs;
}
