import { useEffect, useState } from 'react';
import { TelemetryNumbers, type Snapshot } from '@countersign/contracts/control-plane';
import { keepSocket } from '../live/socket.ts';
import { useSnapshot } from '../live/snapshot.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

const noAnswer = 'No answer';

/** The current enforcement. While the services do not answer, nothing is shown as in force. */
export function Enforcement() {
  const snapshot = useSnapshot();
  const isOld = snapshot.error !== null;
  return (
    <section aria-label="Enforcement">
      <h2>Enforcement</h2>
      <Loaded query={snapshot}>
        {({ boundary, counts }) => (
          <dl className="facts">
            <Calls boundary={isOld ? null : boundary} />
            <dt>Stops not confirmed</dt>
            <dd>{isOld ? noAnswer : counts.unconfirmed_commands}</dd>
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
      <dd>{boundary === null ? <Mark tone="bad">{noAnswer}</Mark> : <CallsMark status={boundary.status} />}</dd>
      <dt>Policy</dt>
      <dd>{boundary === null ? noAnswer : <PolicyOf policy={boundary.policy} />}</dd>
      <dt>Stops</dt>
      <dd>{boundary === null ? noAnswer : boundary.counts.fences}</dd>
      <dt>Calls in flight</dt>
      <dd>{boundary === null ? noAnswer : boundary.counts.open_dispatches}</dd>
    </>
  );
}

type Boundary = NonNullable<Snapshot['boundary']>;

function CallsMark({ status }: Pick<Boundary, 'status'>) {
  return status === 'ready' ? <Mark tone="good">Each call decided</Mark> : <Mark tone="bad">All denied</Mark>;
}

const policyStates = { fresh: 'Confirmed', stale: 'Not confirmed', unsigned: 'Wrong signature', missing: 'None' };

function PolicyOf({ policy: { state, policy_hash, policy_epoch } }: Pick<Boundary, 'policy'>) {
  if (policy_hash === null) return <>{policyStates[state]}</>;
  return (
    <>
      Version {policy_epoch}, {policyStates[state].toLowerCase()}
      <br />
      <CopyText text={policy_hash} />
    </>
  );
}

/** The number of changes in the last minute, as the socket reports it. */
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
  return <>{changes ?? '–'}</>;
}
