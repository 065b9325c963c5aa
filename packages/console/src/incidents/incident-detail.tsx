import { Link } from '@tanstack/react-router';
import type { Incident } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Page } from '../parts/page.tsx';
import { Shown } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';
import { StopsInForce } from '../stops/stops-in-force.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { IncidentStops } from './incident-stops.tsx';
import { Moves } from './moves.tsx';
import { Plans } from './plans.tsx';
import { severityTones, severityWords, stateTones, stateWords } from './states.ts';
import { Timeline } from './timeline.tsx';
import { useIncidents } from './use-incidents.ts';

const askAgainMs = 5_000;

type Props = { incident: Incident };

export function IncidentDetail({ id }: { id: string }) {
  const incidents = useIncidents();
  const read = useWorkspaceQuery(
    ['incident', id],
    async (_, signal) => {
      const { body, headers } = await incidents.getIncident({ params: { incident_id: id }, signal });
      return { body: { incident: body, etag: headers.get('etag') ?? '' } };
    },
    { everyMs: askAgainMs },
  );
  return (
    <Page
      title={read.data === undefined ? 'Incident' : read.data.incident.title}
      above={{ title: 'Stops and incidents', to: '/incidents' }}
      state={read.data && <Marks incident={read.data.incident} />}
      about={read.data && <About incident={read.data.incident} />}
      actions={read.data !== undefined && <Moves incident={read.data.incident} etag={read.data.etag} />}
    >
      <StopsInForce />
      <Loaded query={read}>
        {({ incident }) => (
          <>
            <Timeline entries={incident.timeline} />
            <IncidentStops incident={incident} />
            <Plans incident={incident} />
            <Receipts ids={incident.receipts} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Marks({ incident: { state, severity } }: Props) {
  return (
    <>
      <Mark tone={stateTones[state]}>{stateWords[state]}</Mark>
      <Mark tone={severityTones[severity]}>{severityWords[severity]}</Mark>
    </>
  );
}

/** The facts of the incident in one line. */
function About({ incident: { incident_id, category, recurrence, owner, opened_at, last_seen_at } }: Props) {
  return (
    <>
      {inSentence(category)} · reported <Moment at={opened_at} /> ·{' '}
      {recurrence > 1 && (
        <>
          seen {recurrence} times, last <Moment at={last_seen_at} /> ·{' '}
        </>
      )}
      {owner === null ? 'no owner' : 'owner '}
      {owner !== null && <Who actor={owner} />} · <CopyText text={incident_id} />
    </>
  );
}

function inSentence(category: Incident['category']): string {
  const words = category.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Receipts({ ids }: { ids: Incident['receipts'] }) {
  if (ids.length === 0) return null;
  return (
    <section aria-label="Receipts">
      <h2>Receipts</h2>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <Link to={`/activity/${id}`}>
              <Shown text={id} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
