import { Link } from '@tanstack/react-router';
import type { Incident } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Page } from '../parts/page.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { IncidentStops } from './incident-stops.tsx';
import { Moves } from './moves.tsx';
import { Plans } from './plans.tsx';
import { severityTones, stateTones } from './states.ts';
import { Timeline } from './timeline.tsx';
import { useIncidents } from './use-incidents.ts';

const askAgainMs = 5_000;

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
      actions={read.data !== undefined && <Moves incident={read.data.incident} etag={read.data.etag} />}
    >
      <Loaded query={read}>
        {({ incident }) => (
          <>
            <Facts incident={incident} />
            <IncidentStops incident={incident} />
            <Plans incident={incident} />
            <Timeline entries={incident.timeline} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Facts({ incident }: { incident: Incident }) {
  const { incident_id, state, severity, category, recurrence, owner, opened_at, last_seen_at, receipts } = incident;
  return (
    <section aria-label="Facts">
      <dl className="facts">
        <dt>State</dt>
        <dd>
          <Mark tone={stateTones[state]}>{state}</Mark> <Mark tone={severityTones[severity]}>{severity}</Mark>{' '}
          {category.replaceAll('_', ' ')}
        </dd>
        <dt>Owner</dt>
        <dd>{owner === null ? 'No owner' : <CopyText text={owner} whole />}</dd>
        <dt>Opened</dt>
        <dd>
          <Moment at={opened_at} />
        </dd>
        <dt>Seen</dt>
        <dd>
          {recurrence === 1 ? 'once' : `${recurrence} times`}, last <Moment at={last_seen_at} />
        </dd>
        <dt>Receipts</dt>
        <dd>{receipts.length === 0 ? 'None named' : <Receipts ids={receipts} />}</dd>
        <dt>Id</dt>
        <dd>
          <CopyText text={incident_id} whole />
        </dd>
      </dl>
    </section>
  );
}

function Receipts({ ids }: { ids: Incident['receipts'] }) {
  return (
    <ul>
      {ids.map((id) => (
        <li key={id}>
          <Link to={`/activity/${id}`}>
            <Shown text={id} />
          </Link>
        </li>
      ))}
    </ul>
  );
}
