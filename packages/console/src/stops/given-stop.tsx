import { Link } from '@tanstack/react-router';
import type { GivenCommand } from '@countersign/contracts/control-plane';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { OpenCalls } from './open-calls.tsx';

const unconfirmedStop =
  'The kernel has not confirmed it, so calls may still be sent. It is told again until the kernel does.';
const unconfirmedLift =
  'The kernel has not confirmed it, so what was stopped still stands. It is told again until the kernel does.';

/** What became of the stop that was just given, in the words of the kernel or without them. */
export function GivenStop({ command }: { command: GivenCommand }) {
  const { kind, target, state, epoch, effective_at, parked_runs, open_dispatches, more_open_dispatches } = command;
  return (
    <section className={state === 'effective' ? 'note note-good' : 'note note-problem'} role="status">
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
      <div>
        Calls on their way: <OpenCalls calls={open_dispatches} hasMore={more_open_dispatches} />
      </div>
      <p>
        Runs that wait for an approval in it: {parked_runs === null ? 'not known' : parked_runs.length}.{' '}
        <Link to="/runs">Look at the runs</Link>
      </p>
    </section>
  );
}
