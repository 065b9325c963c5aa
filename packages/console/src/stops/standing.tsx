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
        <p>What is in force is unknown, so nothing is shown. No call goes through without the kernel.</p>
        <p>You can still stop something. The stop is kept and repeated until the kernel confirms it.</p>
      </section>
    );
  const { status, mode, last_proven_fail_closed: provenAt, open_dispatches: openCalls, pending_approvals } = boundary;
  return (
    <section aria-label="Boundary">
      <h2>Boundary</h2>
      <dl className="facts">
        <dt>Calls</dt>
        <dd>{status === 'ready' ? <Mark tone="good">Each call decided</Mark> : <Mark tone="bad">All denied</Mark>}</dd>
        <dt>Mode</dt>
        <dd>{mode}</dd>
        <dt>Last fail-closed test</dt>
        <dd>{provenAt === null ? 'Never. Run make conformance.' : <Moment at={provenAt} />}</dd>
        <dt>Calls in flight</dt>
        <dd>
          <Link to="/receipts">{openCalls}</Link>
        </dd>
        <dt>Waiting approvals</dt>
        <dd>
          <Link to="/inbox">{pending_approvals}</Link>
        </dd>
      </dl>
    </section>
  );
}
