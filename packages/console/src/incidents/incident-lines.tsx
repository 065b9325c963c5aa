import { Link } from '@tanstack/react-router';
import type { IncidentSummary } from '@countersign/contracts/control-plane';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { severityWords, stateTones, stateWords } from './states.ts';
import { useIncidents } from './use-incidents.ts';

/** A short list of incidents beside the open one. A narrow screen shows only the open one. */
export function IncidentLines({ openId }: { openId: string }) {
  const incidents = useIncidents();
  const list = useWorkspaceList(['incidents', undefined], (_, { signal, ...at }) =>
    incidents.listIncidents({ query: at, signal }),
  );
  return (
    <nav className="beside-list" aria-label="Incidents">
      <h2>Incidents</h2>
      <Loaded query={list.query}>
        {({ items }) => (
          <ul className="list lines">
            {items.map((incident) => (
              <Line key={incident.incident_id} incident={incident} isOpen={incident.incident_id === openId} />
            ))}
          </ul>
        )}
      </Loaded>
      <More list={list} />
    </nav>
  );
}

function Line({ incident, isOpen }: { incident: IncidentSummary; isOpen: boolean }) {
  const { incident_id: id, title, state, severity, last_seen_at: lastSeenAt } = incident;
  return (
    <li data-id={id} data-open={isOpen || undefined}>
      <span className="grow">
        <Link to="/incidents/$id" params={{ id }} {...(isOpen && { 'aria-current': 'page' as const })}>
          <Shown text={title} />
        </Link>
        <span className="quiet">
          {severityWords[severity]} · <Moment at={lastSeenAt} />
        </span>
      </span>
      <Mark tone={stateTones[state]}>{stateWords[state]}</Mark>
    </li>
  );
}
