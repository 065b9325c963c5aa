const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** A period in days of UTC. Its end is exclusive, so the day before the end is the last one. */
export function Period({ start, end }: { start: string; end: string }) {
  const last = new Date(Date.parse(end) - 1);
  return (
    <time dateTime={`${start}/${end}`} title={`${start} to ${end}`}>
      {day.formatRange(new Date(start), last)}
    </time>
  );
}
