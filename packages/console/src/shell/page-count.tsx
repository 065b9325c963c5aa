import { use } from 'react';
import type { Snapshot } from '@countersign/contracts/control-plane';
import { useSnapshot } from '../live/snapshot.ts';
import { forPersonMax } from '../live/waiting-counts.ts';
import { WorkspaceContext } from '../workspace/open-workspace.ts';

type CountEntry = {
  of(snapshot: Snapshot): number | undefined;
  /** The highest number that the services count to. */
  max: number;
  words: string;
  className: string;
};

const counts: Readonly<Record<string, CountEntry>> = {
  inbox: {
    of: ({ boundary }) => boundary?.counts.waiting_for_you,
    ...{ max: forPersonMax, words: ' waiting for you', className: 'count' },
  },
  incidents: {
    of: ({ counts: { open_incidents } }) => open_incidents,
    ...{ max: 200, words: ' open', className: 'count count-bad' },
  },
  tools: {
    of: ({ boundary }) => boundary?.counts.unapproved_tools,
    ...{ max: 1_000, words: ' changed or not approved', className: 'count' },
  },
};

/** The number of items of a page that need action. Nothing is shown while the number is unknown. */
export function PageCount({ path }: { path: string }) {
  const entry = counts[path];
  return use(WorkspaceContext) === null || entry === undefined ? null : <Count entry={entry} />;
}

function Count({ entry: { of, max, words, className } }: { entry: CountEntry }) {
  const { data, error } = useSnapshot();
  const count = (error === null && data !== undefined && of(data)) || 0;
  if (count === 0) return null;
  return (
    <span className={className}>
      {count >= max ? `${max}+` : count}
      <span className="hidden">{words}</span>
    </span>
  );
}
