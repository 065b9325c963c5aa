import { Link } from '@tanstack/react-router';
import type { Snapshot } from '@countersign/contracts/control-plane';
import { useSnapshot } from '../live/snapshot.ts';
import { Loaded } from '../parts/loaded.tsx';

/** As many as the kernel counts, and as many as are looked through for this person. */
const countedMax = 1_000;
const shownMax = 200;

export function WhatWaits() {
  const snapshot = useSnapshot();
  return (
    <section aria-label="What waits">
      <h2>What waits</h2>
      <Loaded query={snapshot}>{({ boundary }) => <Pending counts={boundary?.counts ?? null} />}</Loaded>
    </section>
  );
}

type Counts = NonNullable<Snapshot['boundary']>['counts'];

function Pending({ counts }: { counts: Counts | null }) {
  if (counts === null) return <p className="quiet">What waits is not known: the kernel does not answer.</p>;
  const { pending_approvals: all, waiting_for_you: mine } = counts;
  if (all === 0) return <p className="quiet">No call waits for an approval.</p>;
  return (
    <>
      {mine > 0 && (
        <p>
          <Link to={'/inbox'}>{inWords(mine, mine >= shownMax)} for you</Link>
        </p>
      )}
      {all > mine && (
        <p className="quiet">
          <Link to={'/inbox'}>{inWords(all - mine, all >= countedMax)} for other people</Link>
        </p>
      )}
    </>
  );
}

function inWords(count: number, isMore: boolean): string {
  return count === 1 && !isMore ? '1 call waits' : `${count} calls${isMore ? ' or more' : ''} wait`;
}
