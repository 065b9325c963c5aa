import { mayDo } from '@countersign/contracts';
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { PolicyShadow, ShadowHour } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePolicy } from './use-policy.ts';

type Props = { shadows: PolicyShadow[]; text: string | null };

/** Drafts that the kernel evaluates beside the active policy, with the number of differing verdicts. */
export function ShadowLanes({ shadows, text }: Props) {
  const { id, role } = useWorkspace();
  const policy = usePolicy();
  const queries = useQueryClient();
  const again = () => queries.invalidateQueries({ queryKey: [id, 'policy', 'active'] });
  const end = useMutation({
    mutationFn: (lane: string) => policy.deletePolicyShadow({ params: { id, lane } }),
    onSettled: again,
  });
  return (
    <section className="card" aria-label="Shadow lanes">
      <h2>Shadow drafts</h2>
      <p className="quiet">
        Up to three drafts also decide every call. Their verdicts are recorded and change nothing.
      </p>
      {shadows.length > 0 && (
        <Lanes
          shadows={shadows}
          {...(mayDo(role, 'policy.shadow') ? { onEnd: (lane: string) => end.mutate(lane) } : {})}
        />
      )}
      {end.error !== null && <ProblemNote error={end.error} />}
      {!mayDo(role, 'policy.shadow') && <p className="quiet">Only partners and owners can choose shadow drafts.</p>}
      {mayDo(role, 'policy.shadow') && text !== null && <LaneForm text={text} onSet={again} />}
      {text === null && <p className="quiet">Write a draft first. Then you can run it here in shadow.</p>}
    </section>
  );
}

const sum = (hours: readonly ShadowHour[], count: Exclude<keyof ShadowHour, 'hour'>) =>
  hours.reduce((total, hour) => total + hour[count], 0);

function Lanes({ shadows, onEnd }: { shadows: PolicyShadow[]; onEnd?: (lane: string) => void }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Lanes, last 24 hours">
      <table>
        <thead>
          <tr>
            <th>Lane</th>
            <th>State</th>
            <th className="wide">Draft</th>
            <th>Decisions</th>
            <th>Another verdict</th>
            <th>More permissive</th>
            <th className="wide">No verdict</th>
            <th>This hour</th>
            <th>End</th>
          </tr>
        </thead>
        <tbody>
          {shadows.map(({ lane, state, policy_hash, hours }) => (
            <tr key={lane}>
              <td>{lane}</td>
              <td>
                <Mark tone={state === 'standing' ? 'live' : 'wait'}>{state}</Mark>
              </td>
              <td className="wide">
                <CopyText text={policy_hash} />
              </td>
              <td>{sum(hours, 'decisions')}</td>
              <td>{sum(hours, 'diverged')}</td>
              <td>{sum(hours, 'widened')}</td>
              <td className="wide">{sum(hours, 'faults')}</td>
              <td>{latestHour(hours)}</td>
              <td>
                {onEnd !== undefined && (
                  <button
                    type="button"
                    className="plain-button"
                    aria-label={`End lane ${lane}`}
                    onClick={() => onEnd(lane)}
                  >
                    End
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function latestHour([latest]: readonly ShadowHour[]): string {
  return latest === undefined ? 'nothing yet' : `${latest.diverged} differ, ${latest.widened} more permissive`;
}

function LaneForm({ text, onSet }: { text: string; onSet: () => Promise<void> }) {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const [lane, setLane] = useState('');
  const set = useMutation({
    mutationFn: () => policy.putPolicyShadow({ params: { id, lane: lane.trim() }, body: { text } }),
    onSuccess: () => setLane(''),
    onSettled: onSet,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate();
  };
  return (
    <form className="stacked" onSubmit={submit} aria-label="Run the draft in shadow">
      <TextInput
        label="Name of a lane"
        description="Lower-case letters, digits and -"
        required
        pattern="[a-z0-9][a-z0-9\-]{0,31}"
        value={lane}
        onChange={({ target }) => setLane(target.value)}
      />
      {set.error !== null && <ProblemNote error={set.error} />}
      <Button type="submit" size="xs" variant="default" loading={set.isPending}>
        Run draft in shadow
      </Button>
    </form>
  );
}
