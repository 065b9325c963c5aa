import { mayDo } from '@countersign/contracts';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { GivenCommand, Incident, OpsCommand } from '@countersign/contracts/control-plane';
import { useShortcuts } from '../keys/shortcuts.ts';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { GivenStop } from '../stops/given-stop.tsx';
import { holdsFor } from '../stops/holds.ts';
import { StopForm } from '../stops/stop-form.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** The commands for an incident, and the way to stop something for it. */
export function IncidentStops({ incident }: { incident: Incident }) {
  const { incident_id, state, commands } = incident;
  const { id, role } = useWorkspace();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [given, setGiven] = useState<GivenCommand | null>(null);
  const mayStop = mayDo(role, 'stop.give') && state !== 'closed';
  useShortcuts([{ keys: 'f', says: 'Freeze for this incident', run: () => mayStop && setOpen(true) }]);
  return (
    <section aria-label="Stops">
      <h2>Stops</h2>
      {given !== null && holdsFor(given, incident) && <GivenStop command={given} />}
      {commands.length === 0 ? <p className="quiet">No stops for this incident.</p> : <Commands commands={commands} />}
      <p className="after-table card-actions">
        {mayStop && (
          <Button size="xs" color="red" onClick={() => setOpen(true)}>
            Freeze for this incident
          </Button>
        )}
        <Link to="/incidents">All stops in force</Link>
      </p>
      <StopForm
        kind={isOpen ? 'freeze' : null}
        incidentId={incident_id}
        onClose={() => setOpen(false)}
        onGiven={(command) => {
          setOpen(false);
          setGiven(command);
          void queries.invalidateQueries({ queryKey: [id] });
        }}
      />
    </section>
  );
}

/** An outdated command stopped nothing. */
const tones = { effective: 'plain', unconfirmed: 'wait', outdated: 'bad' } as const;

function Commands({ commands }: { commands: OpsCommand[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Commands of the incident">
      <table className="cards">
        <thead>
          <tr>
            <th>Command</th>
            <th>Target</th>
            <th>Why</th>
            <th>Given</th>
          </tr>
        </thead>
        <tbody>
          {commands.map(({ command_id, kind, state, target, reason, given_at }) => (
            <tr key={command_id}>
              <td className="tight" data-name="Command">
                <Mark tone={tones[state]}>{`${kind === 'open' ? 'resume' : kind} ${state}`}</Mark>
              </td>
              <td data-name="Target">
                <Shown text={target} />
              </td>
              <td data-name="Why">
                <Shown text={reason} />
              </td>
              <td className="tight" data-name="Given">
                <Moment at={given_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
