/** The end of a day of UTC as an instant. `null` for a text that is no day. */
export function lastDayAt(day: string): string | null {
  const start = Date.parse(`${day}T00:00:00.000Z`);
  return Number.isNaN(start) ? null : `${day}T23:59:59.999Z`;
}
