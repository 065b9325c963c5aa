import { IconBulb } from '@tabler/icons-react';
import { useState } from 'react';

/** At most four hints, each about something that pages do not show by themselves. */
const hints = [
  'Ctrl K finds a page or an action. The key ? lists all keys.',
  'The Stop button at the top stops an agent, a tool or everything within a second.',
  'Open a receipt to see which check decided, and verify it in this browser.',
  'A policy draft shows what it would have changed in past calls before it decides anything.',
] as const;

const preference = 'countersign-hints';

/** Shows one hint at a time. Once dismissed, hints are never shown again in this browser. */
export function Hints() {
  const [at, setAt] = useState(0);
  const [isOff, setOff] = useState(() => localStorage.getItem(preference) === 'off');
  if (isOff) return null;
  const dismiss = () => {
    localStorage.setItem(preference, 'off');
    setOff(true);
  };
  const isLast = at === hints.length - 1;
  return (
    <section className="chart-card" aria-label="Hints">
      <p className="hint" role="status">
        <IconBulb size={16} aria-hidden="true" /> {hints[at]}
      </p>
      <p className="hint-acts">
        <span className="quiet">
          {at + 1} of {hints.length}
        </span>
        {!isLast && (
          <button type="button" className="plain-button" onClick={() => setAt(at + 1)}>
            Next
          </button>
        )}
        <button type="button" className="plain-button" onClick={dismiss}>
          Don’t show hints
        </button>
      </p>
    </section>
  );
}
