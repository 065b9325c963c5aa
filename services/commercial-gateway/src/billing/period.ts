/** From `start`, inclusive, to `end`, exclusive. */
export type Period = { start: Date; end: Date };

/**
 * Returns the monthly period with this index, counted from 0. Periods begin on the day of the anchor, or on the last
 * day of a shorter month. An anchor on 31 January gives 28 February and then 31 March.
 */
export function monthlyPeriod(anchor: Date, index: number): Period {
  return { start: monthsAfter(anchor, index), end: monthsAfter(anchor, index + 1) };
}

function monthsAfter(anchor: Date, months: number): Date {
  const [year, month] = [anchor.getUTCFullYear(), anchor.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const date = new Date(anchor);
  date.setUTCFullYear(year, month, Math.min(anchor.getUTCDate(), lastDay));
  return date;
}

/**
 * Returns the time without milliseconds. Subscriptions begin and change on whole seconds, because proration counts
 * seconds.
 */
export function wholeSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1_000) * 1_000);
}
