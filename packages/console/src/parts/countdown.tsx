import { useEffect, useState } from 'react';

const tickMs = 1_000;
/** From then on the time is amber. */
const soonSeconds = 900;

/** How long is left until a moment, in whole seconds; never below 0. */
function useSecondsLeft(until: string): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((Date.parse(until) - nowMs) / 1_000));
}

export function Countdown({ until }: { until: string }) {
  const left = useSecondsLeft(until);
  if (left === 0) return <span className="countdown">expired</span>;
  const [minutes, seconds] = [Math.floor(left / 60), left % 60];
  return (
    <span className={left < soonSeconds ? 'countdown countdown-soon' : 'countdown'} title={until}>
      {`${minutes}:${String(seconds).padStart(2, '0')} left`}
    </span>
  );
}
