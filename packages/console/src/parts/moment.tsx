const locale = 'en-GB';
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
const dayAndClock = new Intl.DateTimeFormat(locale, {
  ...{ day: 'numeric', month: 'short' },
  ...{ hour: '2-digit', minute: '2-digit' },
});
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });

/** A moment in the reader's time zone: `14:31:44` today, `26 Nov, 16:20` this year, `3 Mar 2025, 09:12:00` before. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {momentInWords(new Date(at), new Date())}
    </time>
  );
}

/** The same text without markup, for labels. */
export function momentInWords(date: Date, now: Date): string {
  if (date.toDateString() === now.toDateString()) return clock.format(date);
  if (date.getFullYear() === now.getFullYear()) return dayAndClock.format(date);
  return `${day.format(date)}, ${clock.format(date)}`;
}
