import type { StandingFence } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';

type Props = { calls: StandingFence['open_dispatches']; hasMore: boolean };

/** Calls that were sent before the stop and are not settled. Each one settles by its deadline. */
export function OpenCalls({ calls, hasMore }: Props) {
  if (calls === null) return <>unknown</>;
  if (calls.length === 0) return <>none</>;
  return (
    <details>
      <summary>{hasMore ? `more than ${calls.length}` : calls.length}</summary>
      <ul>
        {calls.map(({ decision_id, tool, principal_id, deadline_at }) => (
          <li key={decision_id}>
            <Shown text={tool ?? 'model call'} /> by <Who actor={principal_id} />, settled by{' '}
            <Moment at={deadline_at} /> <CopyText text={decision_id} />
          </li>
        ))}
      </ul>
    </details>
  );
}
