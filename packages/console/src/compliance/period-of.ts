import { compliancePeriodDaysMax } from '@countersign/contracts/commercial-gateway';

const [dayMs, minuteMs] = [86_400_000, 60_000];

type Period = { from: string; to: string; fault: null } | { fault: string };

/**
 * The period of whole UTC days. If it includes today, it ends at the last full minute. `fault` states why the period is
 * invalid.
 */
export function periodOf({ first, last }: { first: string; last: string }, nowMs: number): Period {
  const [startMs, lastMs] = [Date.parse(`${first}T00:00:00.000Z`), Date.parse(`${last}T00:00:00.000Z`)];
  if (Number.isNaN(startMs) || Number.isNaN(lastMs)) return { fault: 'Choose both days' };
  const endMs = Math.min(lastMs + dayMs, nowMs - (nowMs % minuteMs));
  if (lastMs > nowMs) return { fault: 'The last day is in the future. Choose today or an earlier day' };
  if (endMs <= startMs) return { fault: 'The last day is before the first day' };
  if (endMs - startMs > compliancePeriodDaysMax * dayMs)
    return { fault: `The period has more than ${compliancePeriodDaysMax} days. Make several reports` };
  return { from: new Date(startMs).toISOString(), to: new Date(endMs).toISOString(), fault: null };
}
