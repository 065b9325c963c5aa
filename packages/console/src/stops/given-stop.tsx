import { Link } from '@tanstack/react-router';
import type { GivenCommand } from '@countersign/contracts/control-plane';
import { Moment } from '../parts/moment.tsx';
import { callsInWords } from './calls-in-words.ts';
import { commandInWords } from './command-in-words.ts';
import { OpenCalls } from './open-calls.tsx';
import { TargetText } from './target-text.tsx';

const unconfirmedStop =
  'The kernel has not confirmed this stop, so calls may still be sent. The stop is sent again until the kernel confirms it.';
const unconfirmedLift =
  'The kernel has not confirmed this, so the stop may still be in force. The request is sent again until the kernel confirms it.';

/** The result of the last stop, confirmed by the kernel or not. */
export function GivenStop({ command }: { command: GivenCommand }) {
  const { kind, target, effective_at, parked_runs, open_dispatches, more_open_dispatches } = command;
  return (
    <section className={`note ${toneOf(command)}`} role="status">
      <h2>
        {`${commandInWords(command)}: `}
        <TargetText target={target} />
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
        Runs that wait for an approval: {parked_runs === null ? 'unknown' : parked_runs.length}.{' '}
        <Link to="/runs">Open runs</Link>
      </p>
    </section>
  );
}

/** Green only when the kernel has confirmed the stop and knows its target. */
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
