import { OpenInvites } from '../invites/open-invites.tsx';
import { Page } from '../parts/page.tsx';
import { Attention, AttentionSummary } from './attention.tsx';
import { Enforcement } from './enforcement.tsx';
import { LatestDecisions } from './latest-decisions.tsx';
import { Setup } from './setup.tsx';

/** What needs the person now, then what is left to set up, the latest decisions, and whether calls are decided. */
export function OverviewPage() {
  return (
    <Page title="Overview" about={<AttentionSummary />}>
      <OpenInvites />
      <Attention />
      <Setup />
      <div className="two-columns">
        <LatestDecisions />
        <Enforcement />
      </div>
    </Page>
  );
}
