import { mayDo } from '@countersign/contracts';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { GivenCommand, Incident, OpsCommand } from '@countersign/contracts/control-plane';
import { useShortcuts } from '../keys/shortcuts.ts';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { commandInWords } from '../stops/command-in-words.ts';
import { GivenStop } from '../stops/given-stop.tsx';
import { holdsFor } from '../stops/holds.ts';
import { StopForm } from '../stops/stop-form.tsx';
import { TargetText } from '../stops/target-text.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** The commands for an incident, and the form that stops something for it. */
export function IncidentStops({ incident }: { incident: Incident }) {
  const { incident_id, state, commands } = incident;
  const { id, role } = useWorkspace();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [input, setGiven] = useState<GivenCommand | null>(null);
  const mayStop = mayDo(role, 'stop.give') && state !== 'closed';
  useShortcuts([{ keys: 'f', says: 'Freeze for this incident', run: () => mayStop && setOpen(true) }]);
  return (
    <section aria-label="Stops">
      <h2>Stops for this incident</h2>
      {input !== null && holdsFor(input, incident) && <GivenStop command={input} />}
      {commands.length === 0 ? <p className="quiet">None yet.</p> : <Commands commands={commands} />}
      {mayStop && (
        <p className="after-table card-actions">
          <Button size="xs" color="red" onClick={() => setOpen(true)}>
            Freeze for this incident
          </Button>
        </p>
      )}
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

/** An outdated command has the tone `bad`, because it stopped nothing. */
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
            <th>Issued</th>
          </tr>
        </thead>
        <tbody>
          {commands.map(({ command_id, kind, state, target, reason, given_at }) => (
            <tr key={command_id}>
              <td className="tight" data-name="Command">
                <Mark tone={tones[state]}>{commandInWords({ kind, state })}</Mark>
              </td>
              <td data-name="Target">
                <TargetText target={target} />
              </td>
              <td data-name="Why">
                <Shown text={reason} />
              </td>
              <td className="tight" data-name="Issued">
                <Moment at={given_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
