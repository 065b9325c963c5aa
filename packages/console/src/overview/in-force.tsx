import { useEffect, useState } from 'react';
import { TelemetryNumbers, type Snapshot } from '@countersign/contracts/control-plane';
import { keepSocket } from '../live/socket.ts';
import { useSnapshot } from '../live/snapshot.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** What decides about calls now. Where asking fails nothing is shown as in force, however lately it was read. */
export function InForce() {
  const snapshot = useSnapshot();
  const isOld = snapshot.error !== null;
  return (
    <section aria-label="In force">
      <h2>In force</h2>
      <Loaded query={snapshot}>
        {({ boundary, counts }) => (
          <dl className="facts">
            <Calls boundary={isOld ? null : boundary} />
            <dt>Stops on their way</dt>
            <dd>{isOld ? 'not known' : counts.unconfirmed_commands}</dd>
            <dt>Changes in the last minute</dt>
            <dd>
              <Pulse />
            </dd>
          </dl>
        )}
      </Loaded>
    </section>
  );
}

function Calls({ boundary }: Pick<Snapshot, 'boundary'>) {
  return (
    <>
      <dt>Calls</dt>
      <dd>{boundary === null ? <Mark tone="bad">not known</Mark> : <CallsMark status={boundary.status} />}</dd>
      <dt>Policy</dt>
      <dd>{boundary === null ? 'not known' : <PolicyOf policy={boundary.policy} />}</dd>
      <dt>Fences</dt>
      <dd>{boundary === null ? 'not known' : boundary.counts.fences}</dd>
      <dt>Calls under way</dt>
      <dd>{boundary === null ? 'not known' : boundary.counts.open_dispatches}</dd>
    </>
  );
}

type Boundary = NonNullable<Snapshot['boundary']>;

function CallsMark({ status }: Pick<Boundary, 'status'>) {
  return status === 'ready' ? <Mark tone="good">decided one by one</Mark> : <Mark tone="bad">all denied</Mark>;
}

function PolicyOf({ policy: { state, policy_hash, policy_epoch } }: Pick<Boundary, 'policy'>) {
  if (policy_hash === null) return <>{state}</>;
  return (
    <>
      {state}, epoch {policy_epoch}, <CopyText text={policy_hash} />
    </>
  );
}

/** A number that comes by itself; none while nothing comes. */
function Pulse() {
  const { client } = useWorkspace();
  const [changes, setChanges] = useState<number | null>(null);
  useEffect(
    () =>
      keepSocket({
        kind: 'telemetry',
        newTicket: async (signal) => (await client.createSessionTicket({ signal })).body.ticket,
        onMessage: (text) => setChanges(TelemetryNumbers.parse(JSON.parse(text)).changes_last_minute),
        onState: (isOpen) => {
          if (!isOpen) setChanges(null);
        },
      }),
    [client],
  );
  return <>{changes ?? 'not known'}</>;
}
