import { confirmationSkewMaxMs } from '@countersign/policy';
import type { RelationHead } from './relation-heads.ts';

/** The freshness rule of the relationship gate. */
export function isFresh(
  { confirmedAtMs }: Pick<RelationHead, 'confirmedAtMs'>,
  { nowMs, ageMaxMs }: { nowMs: number; ageMaxMs: number },
): boolean {
  const ageMs = nowMs - confirmedAtMs;
  return ageMs <= ageMaxMs && ageMs >= -confirmationSkewMaxMs;
}
