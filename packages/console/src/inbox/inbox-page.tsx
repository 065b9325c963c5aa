import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { z } from 'zod';
import { visibleText } from '@countersign/contracts';
import type { InboxApproval } from '@countersign/contracts/control-plane';
import { ApprovalState, type Approval } from '@countersign/contracts/governance-kernel';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyCommand } from '../parts/copy-command.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePageSearch } from '../workspace/page-search.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { ApprovalCard } from './approval-card.tsx';
import { may } from './may.ts';
import { NothingWaits } from './nothing-waits.tsx';
import { NotificationOffer } from './notification-offer.tsx';
import { VoteDialog, type Question } from './vote-dialog.tsx';

const Search = z.object({ state: ApprovalState.catch('pending') });

/** Approvals that agents request: one card for each exact call. */
export function InboxPage() {
  const { id } = useWorkspace();
  const [{ state }, change] = usePageSearch(Search);
  const [voted, setVoted] = useState<Approval | null>(null);
  const list = useWorkspaceList(['approvals', state], (client, { signal, ...at }) =>
    client.listInboxApprovals({ params: { id }, query: { state, ...at }, signal }),
  );
  return (
    <Page
      title="Inbox"
      about="Calls that wait for a decision by a person. A vote applies to the shown call only."
      actions={<StateFilter state={state} onChange={(next) => change({ state: next })} />}
    >
      <Voted approval={voted} />
      <NotificationOffer hasVoted={voted !== null} />
      <Loaded query={list.query}>
        {({ items: approvals }) =>
          approvals.length === 0 ? <NothingWaits state={state} /> : <Cards approvals={approvals} onVoted={setVoted} />
        }
      </Loaded>
      <More list={list} />
      <CopyCommand words="approvals ls" filters={{ state, cursor: list.cursor }} count={list.count} />
    </Page>
  );
}

type FilterProps = { state: Approval['state']; onChange: (state: Approval['state']) => void };

function StateFilter({ state, onChange }: FilterProps) {
  return (
    <label className="chooser">
      <span>State</span>
      <select value={state} onChange={({ target }) => onChange(ApprovalState.parse(target.value))}>
        {ApprovalState.options.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}

type CardsProps = { approvals: readonly InboxApproval[]; onVoted: (approval: Approval) => void };

function Cards({ approvals, onVoted }: CardsProps) {
  const { chosen, isOpen, ...choice } = useChoice(approvals);
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = (approval: InboxApproval | undefined, decision: Question['decision']) => {
    if (approval !== undefined && may(approval, decision)) setQuestion({ approval, decision });
  };
  useShortcuts([
    { keys: 'j', says: 'Next call', run: () => choice.move(1) },
    { keys: 'k', says: 'Call before', run: () => choice.move(-1) },
    { keys: 'a', says: 'Approve the selected call', run: () => ask(chosen, 'approve') },
    ...['d', 'r'].map((keys) => ({ keys, says: 'Deny the selected call', run: () => ask(chosen, 'deny') })),
    { keys: 'e', says: 'Show everything signed', run: choice.toggle },
  ]);
  return (
    <>
      {approvals.map((approval) => (
        <ApprovalCard
          key={approval.approval_id}
          approval={approval}
          isChosen={approval === chosen}
          isOpen={isOpen && approval === chosen}
          onChoose={() => choice.choose(approval)}
          onOpen={() => choice.open(approval)}
          onVote={(decision) => ask(approval, decision)}
        />
      ))}
      <VoteDialog
        question={question}
        onClose={() => setQuestion(null)}
        onVoted={(approval) => {
          setQuestion(null);
          onVoted(approval);
        }}
      />
    </>
  );
}

/** Which card the keys are about; by its id, since the list changes under it. A link to one call opens its card. */
function useChoice(approvals: readonly InboxApproval[]) {
  const { id }: { id?: string } = useParams({ strict: false });
  const [chosenId, setChosenId] = useState(id ?? null);
  const [isOpen, setOpen] = useState(id !== undefined);
  const at = approvals.findIndex(({ approval_id }) => approval_id === chosenId);
  const choose = ({ approval_id }: Approval) => setChosenId(approval_id);
  const move = (step: number) => {
    const next = approvals[Math.max(0, Math.min(approvals.length - 1, at + step))];
    if (next !== undefined) choose(next);
  };
  const toggle = () => setOpen((before) => !before);
  const open = (approval: InboxApproval) => {
    choose(approval);
    setOpen((before) => approval !== approvals[at] || !before);
  };
  return { chosen: approvals[at], isOpen, choose, move, toggle, open };
}

/** The kernel's answer to a vote. */
function Voted({ approval }: { approval: Approval | null }) {
  if (approval === null) return null;
  const { tool, action, state, approved_by, quorum } = approval;
  const votes = state === 'pending' ? `, ${approved_by.length} of ${quorum} votes` : '';
  return (
    <p className="note note-good" role="status">
      {visibleText(tool ?? action)}: {state}
      {votes}
    </p>
  );
}
