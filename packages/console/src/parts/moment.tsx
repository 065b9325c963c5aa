const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** A moment in the time of whoever looks, the exact one behind it. */
export function Moment({ at }: { at: string }) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={at}>
      {isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`}
    </time>
  );
}
