import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { visibleText } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { CopyCommand } from '../parts/copy-command.tsx';
import { Facet } from '../parts/facet.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { useIsWide } from '../parts/use-is-wide.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePageSearch } from '../workspace/page-search.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { stateWords } from './approval-states.ts';
import { Calls } from './calls.tsx';
import { decidedStates, InboxSearch, isInTab, requestedState } from './inbox-search.ts';
import { InboxTabs } from './inbox-tabs.tsx';
import { NotificationOffer } from './notification-offer.tsx';

const about = 'Calls that wait for a decision by a person. A vote applies to the shown call only.';
const inbox = { title: 'Inbox', to: '/inbox', keepsSearch: true } as const;

/** `/inbox`: the calls that agents requested. `/inbox/{approval_id}`: one call, on a wide screen beside the list. */
export function InboxPage() {
  const { id } = useWorkspace();
  const { id: openId }: { id?: string } = useParams({ strict: false });
  const isWide = useIsWide();
  const navigate = useNavigate();
  const [search] = usePageSearch(InboxSearch);
  const { tab } = search;
  const state = requestedState(search);
  const [voted, setVoted] = useState<Approval | null>(null);
  const list = useWorkspaceList(['approvals', state ?? 'all'], (client, { signal, ...at }) =>
    client.listInboxApprovals({ params: { id }, query: { ...(state !== undefined && { state }), ...at }, signal }),
  );
  const choose = (next: InboxSearch['state']) =>
    void navigate({ to: '/inbox', search: (before: object) => ({ ...before, tab: 'decided', state: next }) });
  const isAlone = openId !== undefined && !isWide;
  const frame = isAlone
    ? { title: 'Approval', above: inbox }
    : {
        title: 'Inbox',
        about,
        ...(tab === 'decided' && { actions: <Result value={search.state} onChange={choose} /> }),
      };
  return (
    <Page {...frame}>
      {!isAlone && <InboxTabs shown={tab} />}
      <Voted approval={voted} />
      <NotificationOffer hasVoted={voted !== null} />
      <Loaded query={list.query}>
        {({ items, next }) => (
          // The key forgets the chosen call when another list is shown.
          <Calls
            key={`${tab} ${state}`}
            approvals={items.filter((approval) => isInTab(tab, approval))}
            search={search}
            hasMore={next !== null}
            openId={openId ?? null}
            isWide={isWide}
            onVoted={setVoted}
          >
            <More list={list} />
            <CopyCommand
              words="approvals ls"
              filters={{ state, cursor: list.cursor }}
              // The command prints the list of the service. It is offered only when the tab shows all of that list.
              count={items.every((approval) => isInTab(tab, approval)) ? list.count : 0}
            />
          </Calls>
        )}
      </Loaded>
    </Page>
  );
}

type ResultProps = { value: InboxSearch['state']; onChange: (state: InboxSearch['state']) => void };

function Result(props: ResultProps) {
  return <Facet label="Result" options={decidedStates} inWords={(each) => stateWords[each]} {...props} />;
}

/** The result of a vote. */
function Voted({ approval }: { approval: Approval | null }) {
  if (approval === null) return null;
  const { tool, action, state, approved_by, quorum } = approval;
  const votes = state === 'pending' ? `, ${approved_by.length} of ${quorum} votes` : '';
  return (
    <p className="note note-good" role="status">
      {visibleText(tool ?? action)}: {stateWords[state]}
      {votes}
    </p>
  );
}
