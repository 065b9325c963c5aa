import type { IncidentEntry } from '@countersign/contracts/control-plane';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';
import { stateWords } from './states.ts';

/** The events and notes, oldest first. */
export function Timeline({ entries }: { entries: IncidentEntry[] }) {
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      <ol className="steps">
        {entries.map((entry, place) => (
          // Entries are only appended, so their place is a stable key.
          <li key={place} className="step">
            <p className="line-head">
              <strong>{inWords(entry)}</strong>
              <span className="quiet">by {entry.by === null ? 'Countersign' : <Who actor={entry.by} />}</span>
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
      return 'Reported';
    case 'seen_again':
      return `Seen again, ${entry.recurrence} times`;
    case 'moved': {
      const stays = entry.standing.length === 0 ? '' : `. These stops stay: ${entry.standing.join(', ')}`;
      return `${stateWords[entry.to]}${stays}`;
    }
    case 'commanded':
      return 'Stop issued';
    case 'planned':
      return 'Stops planned';
    default:
      return entry satisfies never;
  }
}
