import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { obstacleSays } from '@countersign/contracts';
import type { InboxApproval } from '@countersign/contracts/control-plane';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown, ShownJson } from '../parts/shown.tsx';
import { AskedFacts, SignedFacts } from './approval-facts.tsx';
import { Countdown } from '../parts/countdown.tsx';
import { effectWords } from '../tools/effect-words.ts';
import { AgentReach } from './agent-reach.tsx';
import { stateTones, stateWords } from './approval-states.ts';
import { ArgumentFields } from './argument-fields.tsx';
import { may } from './may.ts';

const isHardToUndo = (effect: Approval['effect_level']) => effect === 'E3' || effect === 'E4';

type Props = {
  approval: InboxApproval;
  isChosen: boolean;
  isOpen: boolean;
  onChoose: () => void;
  onOpen: () => void;
  onVote: (decision: 'approve' | 'deny') => void;
};

/** One exact call: what would be done, and everything that a vote on it signs. */
export function ApprovalCard({ approval, isChosen, isOpen, onChoose, ...rest }: Props) {
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isChosen && card.current?.contains(document.activeElement) !== true) card.current?.focus();
  }, [isChosen]);
  return (
    <article
      ref={card}
      tabIndex={-1}
      className="card"
      data-id={approval.approval_id}
      data-chosen={isChosen || undefined}
      aria-label={`${approval.tool ?? approval.action}, ${approval.state}`}
      onClick={onChoose}
      onFocus={onChoose}
    >
      <CardHead approval={approval} />
      <AskedFacts approval={approval} />
      {approval.args !== null && (
        <>
          <h3>The exact call</h3>
          <ArgumentFields args={approval.args} />
          <ShownJson value={approval.args} label={`Arguments, ${approval.approval_id}`} />
        </>
      )}
      {approval.state === 'pending' && <AgentReach approval={approval} />}
      {approval.rejection_reason !== null && (
        <p>
          {approval.state === 'expired' ? 'Expired early' : 'Reason'}: <Shown text={approval.rejection_reason} />
        </p>
      )}
      {isOpen && <SignedFacts approval={approval} />}
      <CardActions approval={approval} isOpen={isOpen} {...rest} />
    </article>
  );
}

/** The sentence is ours and the names are the caller's, so no text of a tool speaks here. */
function CardHead({ approval }: { approval: Approval }) {
  const { tool, action, state, effect_level, requested_by, expires_at, updated_at } = approval;
  return (
    <header className="card-head">
      <h2 className="card-sentence">
        <Shown text={requested_by} /> {state === 'pending' ? 'wants' : 'wanted'} to call <Shown text={tool ?? action} />
      </h2>
      <Mark tone={stateTones[state]}>{stateWords[state]}</Mark>
      <span title={effect_level}>
        <Mark tone={isHardToUndo(effect_level) ? 'wait' : 'plain'}>{effectWords[effect_level]}</Mark>
      </span>
      <span className="card-time quiet">
        {state === 'pending' ? <Countdown until={expires_at} /> : <Moment at={updated_at} />}
      </span>
    </header>
  );
}

type ActionProps = Pick<Props, 'approval' | 'isOpen' | 'onOpen' | 'onVote'>;

function CardActions({ approval, isOpen, onOpen, onVote }: ActionProps) {
  return (
    <footer className="card-actions">
      {may(approval, 'approve') && (
        <Button size="xs" onClick={() => onVote('approve')}>
          Approve
        </Button>
      )}
      {may(approval, 'deny') && (
        <Button size="xs" variant="default" onClick={() => onVote('deny')}>
          Deny
        </Button>
      )}
      {approval.obstacle !== null && <span className="quiet">{obstacleSays[approval.obstacle]}.</span>}
      <Button size="xs" variant="default" aria-expanded={isOpen} onClick={onOpen}>
        {isOpen ? 'Show less' : 'Show everything signed'}
      </Button>
    </footer>
  );
}
