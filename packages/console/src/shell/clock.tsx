import { useEffect, useState } from 'react';

const minuteMs = 60_000;
const format = new Intl.DateTimeFormat('en-GB', {
  ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  timeZone: 'UTC',
});

/** Date and time in UTC, which receipts and logs use. */
export function Clock() {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setTimeout(() => setNow(new Date()), minuteMs - (now.getTime() % minuteMs));
    return () => clearTimeout(timer);
  }, [now]);
  return (
    <time className="clock" dateTime={now.toISOString()}>
      {format.format(now)} UTC
    </time>
  );
}
