import { use } from 'react';
import { useSnapshot } from '../live/snapshot.ts';
import { WorkspaceContext } from '../workspace/open-workspace.ts';

/** The most approvals that one answer of the control plane covers. */
const countedMax = 200;

/** How many approvals wait for the person. Nothing is shown while that is unknown. */
export function WaitingCount() {
  return use(WorkspaceContext) === null ? null : <Count />;
}

function Count() {
  const { data, error } = useSnapshot();
  const count = error === null ? (data?.boundary?.counts.waiting_for_you ?? 0) : 0;
  if (count === 0) return null;
  return (
    <span className="count">
      {count >= countedMax ? `${countedMax}+` : count}
      <span className="hidden"> waiting for you</span>
    </span>
  );
}
