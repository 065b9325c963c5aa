import type { Instant } from '@countersign/contracts';
import type { ApprovalRow } from './approval-row.ts';

/** Until when an approval that was given may not be used yet; null: it waits for nothing. */
export function lockedUntil({ timelockUntilMs }: Pick<ApprovalRow, 'timelockUntilMs'>, nowMs: number): Instant | null {
  return timelockUntilMs !== null && nowMs < timelockUntilMs ? instant(timelockUntilMs) : null;
}

/** From when on the call may be made, if the last vote comes now; null: at once. */
export function lockFrom({ timelockSeconds }: Pick<ApprovalRow, 'timelockSeconds'>, nowMs: number): number | null {
  return timelockSeconds === 0 ? null : nowMs + timelockSeconds * 1000;
}

export function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
