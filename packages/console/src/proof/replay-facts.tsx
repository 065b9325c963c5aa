import type { PublicReplay } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { VerdictMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';

export function ReplayFacts({ replay }: { replay: PublicReplay }) {
  const { matrix, first_difference: first, policy_hash, replay_hash } = replay;
  const rows = Object.entries(matrix).flatMap(([before, row]) =>
    Object.entries(row).flatMap(([after, count]) => (count === 0 ? [] : [{ before, after, count }])),
  );
  return (
    <>
      <section aria-labelledby="published">
        <h2 id="published">What is published about this replay</h2>
        <dl className="facts">
          <dt>Repeated decisions</dt>
          <dd>
            {replay.decisions}, in a log of {replay.tree_size} receipts: {extentOf(replay)}
          </dd>
          <dt>Policy</dt>
          <dd>{replay.policy === 'recorded' ? 'the policies in force at that time' : 'a draft'}</dd>
          {rows.map(({ before, after, count }) => (
            <div key={`${before} ${after}`}>
              <dt>
                {before} is now {after}
              </dt>
              <dd>{count}</dd>
            </div>
          ))}
          <dt>Did not verify</dt>
          <dd>{replay.unverifiable}</dd>
          <dt>First difference</dt>
          <dd>
            {first === null ? (
              'none'
            ) : (
              <>
                <VerdictMark verdict={first.before} /> is now {first.after}: decision {first.place + 1},{' '}
                <CopyText text={first.receipt_hash} />
              </>
            )}
          </dd>
          <dt>Replayed</dt>
          <dd>
            <Moment at={replay.made_at} /> (rounded down to the minute)
          </dd>
          {policy_hash !== null && (
            <>
              <dt>policy_hash</dt>
              <dd>
                <CopyText text={policy_hash} />
              </dd>
            </>
          )}
          <dt>replay_hash</dt>
          <dd>
            <CopyText text={replay_hash} />
          </dd>
        </dl>
      </section>
      <NotProven />
    </>
  );
}

function extentOf({ is_whole, is_narrowed }: PublicReplay): string {
  const ofWhat = is_narrowed ? 'of one session or period that the workspace chose' : 'of the workspace';
  return `${is_whole ? 'all decisions' : 'the newest decisions'} ${ofWhat}`;
}

function NotProven() {
  return (
    <section aria-labelledby="unproven">
      <h2 id="unproven">What this does not prove</h2>
      <p className="note">
        This page shows what the installation reports about the replay. With the records and policies, you can repeat it
        and get the same hash. Agents and calls are not public.
      </p>
    </section>
  );
}
