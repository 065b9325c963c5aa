import { mayDo } from '@countersign/contracts';
import { z } from 'zod';
import { PeriodChoice } from '../charts/period-choice.tsx';
import { PeriodName } from '../charts/periods.ts';
import { OpenInvites } from '../invites/open-invites.tsx';
import { FirstCall } from '../parts/first-call.tsx';
import { Page } from '../parts/page.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePageSearch } from '../workspace/page-search.ts';
import { Attention, AttentionSummary } from './attention.tsx';
import { Enforcement } from './enforcement.tsx';
import { Hints } from './hints.tsx';
import { HowItWorks } from './how-it-works.tsx';
import { LatestDecisions } from './latest-decisions.tsx';
import { BusiestAgents, Numbers } from './numbers.tsx';
import { Setup, useSetup } from './setup.tsx';
import { useIsNew } from './use-latest.ts';

const Search = z.object({ period: PeriodName.optional().catch(undefined) });

/**
 * The items that need the person, then the open steps of the setup, the numbers of a period, and the latest decisions.
 */
export function OverviewPage() {
  const [{ period = '24h' }, change] = usePageSearch(Search);
  const isNew = useIsNew();
  const choice = <PeriodChoice value={period} onChange={(next) => change({ period: next })} />;
  return (
    <Page title="Overview" about={<AttentionSummary />} {...(!isNew && { actions: choice })}>
      <OpenInvites />
      <Attention />
      <Start isNew={isNew} />
      {!isNew && <Numbers period={period} />}
      <div className="two-columns">
        <LatestDecisions />
        <div>
          {!isNew && <BusiestAgents period={period} />}
          <Enforcement />
        </div>
      </div>
    </Page>
  );
}

/** The first ten minutes: open steps of the setup, and a first call to send. The page updates when the call arrives. */
function Start({ isNew }: { isNew: boolean }) {
  const { role } = useWorkspace();
  const isOwner = mayDo(role, 'workspace.manage');
  const setup = useSetup(isOwner);
  const isDone = !isOwner || setup.data?.steps.every(({ done }) => done) === true;
  if (isDone && !isNew) return <Hints />;
  return (
    <div className={isNew && !isDone ? 'two-columns' : 'stacked'}>
      {!isDone && <Setup setup={setup} isShort={!isNew} />}
      <div>
        {isNew && <FirstCall />}
        {isNew && <HowItWorks />}
        <Hints />
      </div>
    </div>
  );
}
