import { Link } from '@tanstack/react-router';
import type { GivenCommand } from '@countersign/contracts/control-plane';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { callsInWords } from './calls-in-words.ts';
import { OpenCalls } from './open-calls.tsx';

const unconfirmedStop =
  'The kernel has not confirmed it, so calls may still be sent. It is repeated until the kernel confirms.';
const unconfirmedLift =
  'The kernel has not confirmed it, so the stop is still in force. It is repeated until the kernel confirms.';

/** The result of the last stop, in the words of the kernel or without them. */
export function GivenStop({ command }: { command: GivenCommand }) {
  const { kind, target, state, epoch, effective_at, parked_runs, open_dispatches, more_open_dispatches } = command;
  return (
    <section className={`note ${toneOf(command)}`} role="status">
      <h2>
        {`${kind === 'open' ? 'resume' : kind} ${state}, epoch ${epoch}: `}
        <Shown text={target} />
      </h2>
      {effective_at === null ? (
        <p>{kind === 'open' ? unconfirmedLift : unconfirmedStop}</p>
      ) : (
        <p>
          In force since <Moment at={effective_at} />.
        </p>
      )}
      {kind !== 'open' && <Reach command={command} />}
      <div>
        Calls in flight: <OpenCalls calls={open_dispatches} hasMore={more_open_dispatches} />
      </div>
      <p>
        Runs that wait for an approval: {parked_runs === null ? 'not known' : parked_runs.length}.{' '}
        <Link to="/runs">Open runs</Link>
      </p>
    </section>
  );
}

/** Green is for a stop that the kernel confirmed of a name that it knows. */
function toneOf({ state, known, kind }: GivenCommand): string {
  if (state !== 'effective') return 'note-problem';
  return known === false && kind !== 'open' ? 'note-wait' : 'note-good';
}

function Reach({ command: { known, calls_last_7d: calls } }: { command: GivenCommand }) {
  if (known === false)
    return (
      <p>
        <strong>No agent, tool or server has this name.</strong> The stop applies to this exact name only. Check the
        spelling.
      </p>
    );
  return calls === null ? null : <p>{callsInWords(calls)} in the last 7 days.</p>;
}
