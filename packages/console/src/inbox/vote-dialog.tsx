import { Button, Modal } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { visibleText } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { LongText } from '../parts/long-text.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown, ShownJson } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { castVote, type Vote } from './cast-vote.ts';

export type Question = { approval: Approval; decision: Vote['decision'] };
type Props = { question: Question | null; onClose: () => void; onVoted: (approval: Approval) => void };

const words = {
  approve: {
    title: 'Approve',
    says: 'Approves this exact call, once. Your passkey signs it, if you have one here.',
    label: 'Reason (optional)',
  },
  deny: {
    title: 'Deny',
    says: 'Denies this call. The agent and its model see your reason.',
    label: 'Reason',
  },
} as const;

export function VoteDialog({ question, onClose, onVoted }: Props) {
  return (
    <Modal opened={question !== null} onClose={onClose} title={question === null ? '' : titleOf(question)}>
      {question !== null && <VoteForm question={question} onVoted={onVoted} />}
    </Modal>
  );
}

function titleOf({ approval: { tool, action }, decision }: Question): string {
  return `${words[decision].title} ${visibleText(tool ?? action)}`;
}

function VoteForm({
  question: { approval, decision },
  onVoted,
}: Omit<Props, 'onClose' | 'question'> & { question: Question }) {
  const { client, id } = useWorkspace();
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const vote = useMutation({
    mutationFn: () => castVote({ client, workspaceId: id, approval }, { decision, reason: reason.trim() }),
    onSuccess: onVoted,
    // After any result, the shown data is older than the vote.
    onSettled: () => queries.invalidateQueries({ queryKey: [id] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    vote.mutate();
  };
  const { title, says, label } = words[decision];
  return (
    <form className="stacked" onSubmit={submit}>
      <p>{says}</p>
      <p>
        Requested by <Shown text={approval.requested_by} /> <span className="quiet">{approval.approval_id}</span>
      </p>
      {approval.args !== null && <ShownJson value={approval.args} label="Arguments of the call" />}
      <LongText
        act={title}
        data-autofocus
        label={label}
        required={decision === 'deny'}
        maxLength={2_000}
        rows={3}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      {vote.error !== null && <ProblemNote error={vote.error} />}
      <Button type="submit" color={decision === 'deny' ? 'red' : undefined} loading={vote.isPending}>
        {title}
      </Button>
    </form>
  );
}
