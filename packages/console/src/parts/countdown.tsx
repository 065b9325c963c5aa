import { useEffect, useState } from 'react';
import { serverClock } from '../api/server-clock.ts';

const tickMs = 1_000;
/** The time is amber when at most this much is left. */
const soonSeconds = 900;

/** The whole seconds until a moment by the server's clock, never below 0. */
export function useSecondsLeft(until: string): number {
  const [nowMs, setNowMs] = useState(() => serverClock.nowMs());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(serverClock.nowMs()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((Date.parse(until) - nowMs) / 1_000));
}

export function Countdown({ until }: { until: string }) {
  const remaining = useSecondsLeft(until);
  if (remaining === 0) return <span className="countdown">expired</span>;
  const [minutes, seconds] = [Math.floor(remaining / 60), remaining % 60];
  return (
    <span className={remaining < soonSeconds ? 'countdown countdown-soon' : 'countdown'} title={until}>
      {`${minutes}:${String(seconds).padStart(2, '0')} left`}
    </span>
  );
}
