import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type Bar = { key: string; label: ReactNode; count: number; search?: object };

const whole = new Intl.NumberFormat('en-GB');

/** Horizontal bars, the largest first. The label and the number are text, so the bar itself is decoration. */
export function Bars({ bars, tone }: { bars: readonly Bar[]; tone: 'deny' | 'allow' }) {
  const max = Math.max(...bars.map(({ count }) => count), 1);
  return (
    <ul className="bars">
      {bars.map(({ key, label, count, search }) => (
        <li key={key}>
          <span className="clip">
            {search === undefined ? (
              label
            ) : (
              <Link to="/activity" search={search}>
                {label}
              </Link>
            )}
          </span>
          <span className="number">{whole.format(count)}</span>
          <svg className="bar-track" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
            <rect className={`fill-${tone}`} width={(count / max) * 100} height="1" />
          </svg>
        </li>
      ))}
    </ul>
  );
}
