import { Link } from '@tanstack/react-router';
import { useSnapshot } from '../live/snapshot.ts';
import { Loaded } from '../parts/loaded.tsx';

/** As many as the kernel counts. */
const countedMax = 1_000;

export function WhatWaits() {
  const snapshot = useSnapshot();
  return (
    <section aria-label="What waits">
      <h2>What waits</h2>
      <Loaded query={snapshot}>
        {({ boundary }) => <Pending count={boundary?.counts.pending_approvals ?? null} />}
      </Loaded>
    </section>
  );
}

function Pending({ count }: { count: number | null }) {
  if (count === null) return <p className="quiet">What waits is not known: the kernel does not answer.</p>;
  if (count === 0) return <p className="quiet">No call waits for an approval.</p>;
  return (
    <p>
      <Link to={'/inbox'}>{inWords(count)}</Link>
    </p>
  );
}

function inWords(count: number): string {
  if (count >= countedMax) return `${countedMax} calls or more wait for an approval`;
  return count === 1 ? '1 call waits for an approval' : `${count} calls wait for an approval`;
}
