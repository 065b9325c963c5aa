/** The end of a UTC day as an instant. `null` when the text is not a day. */
export function lastDayAt(day: string): string | null {
  const start = Date.parse(`${day}T00:00:00.000Z`);
  return Number.isNaN(start) ? null : `${day}T23:59:59.999Z`;
}
