import { OpenInvites } from '../invites/open-invites.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Page } from '../parts/page.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { InForce } from './in-force.tsx';
import { LatestReceipts } from './latest-receipts.tsx';
import { Setup } from './setup.tsx';
import { WhatWaits } from './what-waits.tsx';

const askAgainMs = 5_000;

/** Whether the boundary is closed, and what waits for somebody. */
export function OverviewPage() {
  const { name } = useWorkspace();
  return (
    <Page title="Overview" about={`Whether the boundary of ${name} is closed, and what waits for somebody.`}>
      <OpenInvites />
      <Boundary />
      <InForce />
      <Setup />
      <WhatWaits />
      <LatestReceipts />
    </Page>
  );
}

function Boundary() {
  const status = useWorkspaceQuery(['governance'], (client, signal) => client.getGovernanceStatus({ signal }), {
    everyMs: askAgainMs,
  });
  return (
    <section aria-label="Boundary">
      <h2>Boundary</h2>
      <Loaded query={status}>
        {({ configured, required, live, checkedAt, trustedKeyIds }) => (
          <dl className="facts">
            <dt>Kernel</dt>
            <dd>
              <span role="status">{kernelMark({ configured, isUp: live?.ok === true })}</span>
            </dd>
            <dt>Without the kernel</dt>
            <dd>{required ? 'nothing is executed' : 'runs go on ungoverned'}</dd>
            <dt>Keys of receipts</dt>
            <dd>{trustedKeyIds.length}</dd>
            <dt>Asked</dt>
            <dd>
              <Moment at={checkedAt} />
            </dd>
          </dl>
        )}
      </Loaded>
    </section>
  );
}

function kernelMark({ configured, isUp }: { configured: boolean; isUp: boolean }) {
  if (!configured) return <Mark tone="bad">not configured</Mark>;
  return isUp ? <Mark tone="good">answers</Mark> : <Mark tone="bad">does not answer</Mark>;
}
