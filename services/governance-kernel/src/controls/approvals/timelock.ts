import { instantOf, type Instant } from '@countersign/contracts';
import type { ApprovalRow } from './approval-row.ts';

/** The time until which an approved call may not be used. `null` when no time lock is running. */
export function lockedUntil({ timelockUntilMs }: Pick<ApprovalRow, 'timelockUntilMs'>, nowMs: number): Instant | null {
  return timelockUntilMs !== null && nowMs < timelockUntilMs ? instantOf(timelockUntilMs) : null;
}

/** The time from which the call may be made, if the last vote came now. `null` when it may be made at once. */
export function lockFrom({ timelockSeconds }: Pick<ApprovalRow, 'timelockSeconds'>, nowMs: number): number | null {
  return timelockSeconds === 0 ? null : nowMs + timelockSeconds * 1000;
}
