import type { OpsOverview } from '@countersign/contracts/control-plane';
import { Link } from '@tanstack/react-router';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';

/** Whether calls could be allowed at all. While the kernel is away nothing is said of it. */
export function Standing({ ops: { boundary } }: { ops: OpsOverview }) {
  if (boundary === null)
    return (
      <section className="note note-problem" role="alert">
        <h2>The kernel does not answer</h2>
        <p>What is in force is not known, so none is shown. Without the kernel no call is sent.</p>
        <p>A stop that you give now is kept, and told to the kernel until it confirms.</p>
      </section>
    );
  const { status, mode, last_proven_fail_closed: provenAt, open_dispatches: openCalls, pending_approvals } = boundary;
  return (
    <section aria-label="Boundary">
      <h2>Boundary</h2>
      <dl className="facts">
        <dt>Calls</dt>
        <dd>{status === 'ready' ? <Mark tone="good">can be allowed</Mark> : <Mark tone="bad">are all denied</Mark>}</dd>
        <dt>Mode</dt>
        <dd>{mode}</dd>
        <dt>Last proven fail-closed</dt>
        <dd>{provenAt === null ? 'never: run make conformance' : <Moment at={provenAt} />}</dd>
        <dt>Calls on their way</dt>
        <dd>
          <Link to="/receipts">{openCalls}</Link>
        </dd>
        <dt>Approvals that wait</dt>
        <dd>
          <Link to="/inbox">{pending_approvals}</Link>
        </dd>
      </dl>
    </section>
  );
}
