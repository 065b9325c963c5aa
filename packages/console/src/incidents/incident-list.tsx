import { mayDo } from '@countersign/contracts';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { z } from 'zod';
import { IncidentState, type IncidentSummary } from '@countersign/contracts/control-plane';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyCommand } from '../parts/copy-command.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Facet } from '../parts/facet.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { StopsNow } from '../stops/stops-now.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePageSearch } from '../workspace/page-search.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { ReportIncident } from './report-incident.tsx';
import { severityTones, severityWords, stateTones, stateWords } from './states.ts';
import { useIncidents } from './use-incidents.ts';

const Search = z.object({ state: IncidentState.optional().catch(undefined) });

/** The current stops, and the incidents below them. A filtered list is shown without the stops. */
export function IncidentList() {
  const { role } = useWorkspace();
  const [{ state }, change] = usePageSearch(Search);
  const [isOpen, form] = useDisclosure();
  const mayReport = mayDo(role, 'incident.manage');
  const incidents = useIncidents();
  const list = useWorkspaceList(['incidents', state], (_, { signal, ...at }) =>
    incidents.listIncidents({ query: { state, ...at }, signal }),
  );
  return (
    <Page
      title="Stops and incidents"
      about="Stop anything at once. Keep a record of what went wrong and what you did."
      actions={
        mayReport ? (
          <ReportButton onOpen={form.open} />
        ) : (
          <p className="quiet">Only partners and owners can report incidents.</p>
        )
      }
    >
      {state === undefined && <StopsNow />}
      <section aria-label="Incidents">
        <h2>Incidents</h2>
        <p className="quiet">
          An incident opens automatically for a changed tool, a receipt that does not verify, or a service that does not
          answer.
        </p>
      </section>
      <section className="facets" aria-label="Find">
        <Facet
          label="State"
          value={state}
          options={IncidentState.options}
          inWords={(each) => stateWords[each]}
          onChange={(next) => change({ state: next })}
        />
      </section>
      <Loaded query={list.query}>
        {({ items: incidents }) =>
          incidents.length === 0 ? (
            <NoIncident state={state} onDrill={mayReport ? form.open : null} />
          ) : (
            <Incidents incidents={incidents} />
          )
        }
      </Loaded>
      <More list={list} />
      <CopyCommand words="incidents ls" filters={{ state, cursor: list.cursor }} count={list.count} />
      <ReportIncident isOpen={isOpen} onClose={form.close} />
    </Page>
  );
}

function ReportButton({ onOpen }: { onOpen: () => void }) {
  useShortcuts([{ keys: 'n', says: 'Report an incident', run: onOpen }]);
  return (
    <Button variant="default" onClick={onOpen}>
      Report incident
    </Button>
  );
}

function Incidents({ incidents }: { incidents: readonly IncidentSummary[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="List of incidents">
      <table className="cards">
        <thead>
          <tr>
            <th>Incident</th>
            <th>State</th>
            <th>Severity</th>
            <th>Category</th>
            <th className="number">Seen</th>
            <th>Last seen</th>
          </tr>
        </thead>
        <tbody>
          {incidents.map((incident) => (
            <Row key={incident.incident_id} incident={incident} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ incident }: { incident: IncidentSummary }) {
  const { incident_id, title, state, severity, category, recurrence, last_seen_at } = incident;
  return (
    <tr data-id={incident_id}>
      <td data-name="Incident">
        <Link to={`/incidents/${incident_id}`}>
          <Shown text={title} />
        </Link>
      </td>
      <td className="tight" data-name="State">
        <Mark tone={stateTones[state]}>{stateWords[state]}</Mark>
      </td>
      <td className="tight" data-name="Severity">
        <Mark tone={severityTones[severity]}>{severityWords[severity]}</Mark>
      </td>
      <td data-name="Category">{category.replaceAll('_', ' ')}</td>
      <td className="number" data-name="Seen">
        {recurrence}
      </td>
      <td className="tight" data-name="Last seen">
        <Moment at={last_seen_at} />
      </td>
    </tr>
  );
}

type NoneProps = { state: IncidentState | undefined; onDrill: (() => void) | null };

function NoIncident({ state, onDrill }: NoneProps) {
  if (state !== undefined) return <p className="quiet">No incident is in the state “{stateWords[state]}”.</p>;
  return (
    <EmptyState
      title="No incidents yet"
      action={
        onDrill !== null && (
          <Button variant="default" onClick={onDrill}>
            Report a drill
          </Button>
        )
      }
    >
      Incidents appear here with their stops. Try it with a drill: report one, plan a stop, see its effect, and close
      the incident.
    </EmptyState>
  );
}
