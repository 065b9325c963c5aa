import type { IncidentEntry } from '@countersign/contracts/control-plane';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';

/** The events and notes, oldest first. */
export function Timeline({ entries }: { entries: IncidentEntry[] }) {
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      <ol className="steps">
        {entries.map((entry, place) => (
          // Entries are only ever added.
          <li key={place} className="step">
            <p className="line-head">
              <strong>{inWords(entry)}</strong>
              <span className="quiet">
                by <Shown text={entry.by ?? 'the control plane'} />
              </span>
              <span className="step-time quiet">
                <Moment at={entry.at} />
              </span>
            </p>
            {entry.note !== '' && (
              <p>
                <Shown text={entry.note} />
              </p>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function inWords(entry: IncidentEntry): string {
  switch (entry.kind) {
    case 'opened':
      return 'opened';
    case 'seen_again':
      return `seen again, ${entry.recurrence} times`;
    case 'moved': {
      const stays = entry.standing.length === 0 ? '' : `; these stay: ${entry.standing.join(', ')}`;
      return `${entry.from} → ${entry.to}${stays}`;
    }
    case 'commanded':
      return 'issued a stop';
    case 'planned':
      return 'planned stops';
    default:
      return entry satisfies never;
  }
}
