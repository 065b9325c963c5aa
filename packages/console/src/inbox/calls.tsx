import { useState, type ReactNode } from 'react';
import type { InboxApproval } from '@countersign/contracts/control-plane';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { serverClock } from '../api/server-clock.ts';
import { useShortcuts } from '../keys/shortcuts.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { CallList } from './call-list.tsx';
import type { InboxSearch } from './inbox-search.ts';
import { may } from './may.ts';
import { NothingWaits } from './nothing-waits.tsx';
import { useChoice } from './use-choice.ts';
import { useChosenCall } from './use-chosen-call.ts';
import { VoteDialog, type Question } from './vote-dialog.tsx';

type Props = {
  approvals: readonly InboxApproval[];
  search: InboxSearch;
  /** Whether the service has more calls, which may be in this tab. */
  hasMore: boolean;
  /** The call in the address. `null` when the address has none. */
  openId: string | null;
  isWide: boolean;
  onVoted: (approval: Approval) => void;
  /** Shown below the list. */
  children: ReactNode;
};

/** The list of calls, and the chosen call. A narrow screen shows one of the two. */
export function Calls({ approvals, search, hasMore, openId, isWide, onVoted, children }: Props) {
  const choice = useChoice({ approvals, openId, isWide });
  const { chosenId } = choice;
  const { listed, read } = useChosenCall(approvals, chosenId);
  const [wholeId, setWholeId] = useState(openId);
  const [opened, setOpened] = useState(0);
  const [question, setQuestion] = useState<Question | null>(null);
  const chosen = listed ?? read.data ?? undefined;
  const ask = (decision: Question['decision']) => {
    if (chosen === undefined || !may(chosen, decision) || Date.parse(chosen.expires_at) <= serverClock.nowMs()) return;
    setQuestion({ approval: chosen, decision });
  };
  const toggle = () => setWholeId(wholeId === chosenId ? null : chosenId);
  useShortcuts([
    { keys: 'j', says: 'Next call', run: () => choice.move(1) },
    { keys: 'k', says: 'Previous call', run: () => choice.move(-1) },
    { keys: 'a', says: 'Approve the shown call', run: () => ask('approve') },
    ...['d', 'r'].map((keys) => ({ keys, says: 'Deny the shown call', run: () => ask('deny') })),
    { keys: 'e', says: 'Show all signed data', run: toggle },
  ]);
  if (approvals.length === 0 && chosenId === null && !hasMore) return <NothingWaits search={search} />;
  const card = (approval: InboxApproval) => (
    <ApprovalCard
      approval={approval}
      isWhole={wholeId === approval.approval_id}
      opened={opened}
      onWhole={toggle}
      onVote={ask}
    />
  );
  return (
    <div className={isWide ? 'inbox-split' : undefined}>
      {(isWide || chosenId === null) && (
        <CallList approvals={approvals} hasMore={hasMore} choice={choice} onOpen={() => setOpened(opened + 1)}>
          {children}
        </CallList>
      )}
      {listed !== undefined && card(listed)}
      {listed === undefined && chosenId !== null && (
        <Loaded query={read}>{(found) => (found === null ? <NoSuchApproval /> : card(found))}</Loaded>
      )}
      <VoteDialog
        question={question}
        onClose={() => setQuestion(null)}
        onVoted={(approval) => {
          setQuestion(null);
          onVoted(approval);
        }}
      />
    </div>
  );
}

function NoSuchApproval() {
  return (
    <EmptyState title="This approval does not exist">
      No approval of this workspace has the id in the address. Choose a call from the list.
    </EmptyState>
  );
}
