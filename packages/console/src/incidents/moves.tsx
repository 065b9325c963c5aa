import { mayDo } from '@countersign/contracts';
import { Button, Modal } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { isAppError } from '@countersign/contracts';
import { incidentMoves, type Incident, type IncidentState } from '@countersign/contracts/control-plane';
import { useShortcuts } from '../keys/shortcuts.ts';
import { LongText } from '../parts/long-text.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { moveWords } from './states.ts';
import { useIncidents } from './use-incidents.ts';

type Props = { incident: Incident; etag: string };

/** The state changes that are allowed for the incident, each with a note. */
export function Moves({ incident, etag }: Props) {
  const { role } = useWorkspace();
  const [to, setTo] = useState<IncidentState | null>(null);
  const moves = mayDo(role, 'incident.manage') ? incidentMoves[incident.state] : [];
  const [first] = moves;
  useShortcuts([{ keys: 'm', says: 'Change state', run: () => first !== undefined && setTo(first) }]);
  return (
    <>
      {moves.map((state) => (
        <Button key={state} variant={state === first ? 'filled' : 'default'} onClick={() => setTo(state)}>
          {moveWords[state].act}
        </Button>
      ))}
      <Modal opened={to !== null} onClose={() => setTo(null)} title={to === null ? '' : moveWords[to].act}>
        {to !== null && <MoveForm incident={incident} etag={etag} to={to} onMoved={() => setTo(null)} />}
      </Modal>
    </>
  );
}

function MoveForm({ incident, etag, to, onMoved }: Props & { to: IncidentState; onMoved: () => void }) {
  const { id } = useWorkspace();
  const incidents = useIncidents();
  const queries = useQueryClient();
  // The version that was read when the form opened. A change by another person is not overwritten unnoticed.
  const [base] = useState(etag);
  const [note, setNote] = useState('');
  const [staying, setStaying] = useState<readonly string[]>([]);
  const toName = to === 'resolved' ? incident.standing : [];
  const move = useMutation({
    mutationFn: (readAt: string) =>
      incidents.transitionIncident({
        params: { incident_id: incident.incident_id },
        body: {
          to,
          note: note.trim(),
          standing: toName.map(({ target }) => target).filter((t) => staying.includes(t)),
        },
        headers: { 'if-match': readAt },
      }),
    onSuccess: onMoved,
    onSettled: () => queries.invalidateQueries({ queryKey: [id] }),
  });
  const isConflict = isAppError(move.error) && move.error.code === 'PRECONDITION_FAILED';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    move.mutate(isConflict ? etag : base);
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <p>{moveWords[to].says}</p>
      <LongText
        act={moveWords[to].act}
        data-autofocus
        label="Note"
        required
        withAsterisk={false}
        maxLength={2_000}
        rows={3}
        value={note}
        onChange={({ target }) => setNote(target.value)}
      />
      {toName.length > 0 && <ActiveStops standing={toName} staying={staying} onChange={setStaying} />}
      {move.error !== null && <ProblemNote error={move.error} />}
      {isConflict && <p>It is {incident.state} now. The timeline shows each note and its author.</p>}
      <Button type="submit" loading={move.isPending}>
        {moveWords[to].act}
      </Button>
    </form>
  );
}

type StandingProps = {
  standing: Incident['standing'];
  staying: readonly string[];
  onChange: (targets: readonly string[]) => void;
};

/**
 * Stops of the incident that are in force. Each one must be lifted or explicitly kept before the incident is resolved.
 */
function ActiveStops({ standing, staying, onChange }: StandingProps) {
  const toggle = (target: string) =>
    onChange(staying.includes(target) ? staying.filter((each) => each !== target) : [...staying, target]);
  return (
    <fieldset>
      <legend>Stops that stay in force</legend>
      {standing.map(({ target, kind, command_id }) => (
        <label key={command_id} className="check">
          <input type="checkbox" checked={staying.includes(target)} onChange={() => toggle(target)} /> {kind}{' '}
          <Shown text={target} />
        </label>
      ))}
    </fieldset>
  );
}
