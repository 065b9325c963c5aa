import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { obstacleSays } from '@countersign/contracts';
import type { InboxApproval } from '@countersign/contracts/control-plane';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown, ShownJson } from '../parts/shown.tsx';
import { WhatItDoes } from '../parts/what-it-does.tsx';
import { Who } from '../parts/who.tsx';
import { AskedFacts, SignedFacts } from './approval-facts.tsx';
import { Countdown, useSecondsLeft } from '../parts/countdown.tsx';
import { effectWords } from '../tools/effect-words.ts';
import { AgentReach } from './agent-reach.tsx';
import { stateTones, stateWords } from './approval-states.ts';
import { ArgumentFields } from './argument-fields.tsx';
import { may } from './may.ts';
import { SimilarCalls } from './similar-calls.tsx';

const isHardToUndo = (effect: Approval['effect_level']) => effect === 'E3' || effect === 'E4';

type Props = {
  approval: InboxApproval;
  /** Whether all data that a vote signs is shown. */
  isWhole: boolean;
  /** The number of times that the person opened a call. Each time, the card takes the focus. */
  opened: number;
  onWhole: () => void;
  onVote: (decision: 'approve' | 'deny') => void;
};

/** One exact call: its effect, and all data that a vote on it signs. */
export function ApprovalCard({ approval, isWhole, opened, ...rest }: Props) {
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (opened > 0) card.current?.focus();
  }, [opened]);
  return (
    <article
      ref={card}
      tabIndex={-1}
      className="card call"
      aria-label={`${approval.tool ?? approval.action}, ${approval.state}`}
    >
      <CardHead approval={approval} />
      {approval.args !== null && (
        <>
          <h3>The exact call</h3>
          <ArgumentFields key={approval.approval_id} args={approval.args} />
          <ShownJson value={approval.args} label={`Arguments, ${approval.approval_id}`} />
        </>
      )}
      <AskedFacts approval={approval} />
      {approval.state === 'pending' && (
        <>
          <SimilarCalls approval={approval} />
          <AgentReach approval={approval} />
        </>
      )}
      {approval.rejection_reason !== null && (
        <p>
          {approval.state === 'expired' ? 'Expired early' : 'Reason'}: <Shown text={approval.rejection_reason} />
        </p>
      )}
      {isWhole && <SignedFacts approval={approval} />}
      <CardActions approval={approval} isWhole={isWhole} {...rest} />
    </article>
  );
}

/** The sentence is written by the console or the policy, and its values come from the caller. */
function CardHead({ approval }: { approval: Approval }) {
  const { state, effect_level, requested_by, expires_at, updated_at } = approval;
  return (
    <header className="card-head">
      <h2 className="card-sentence">
        <Who actor={requested_by} /> {state === 'pending' ? 'wants' : 'wanted'} to <WhatItDoes call={approval} />
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

type ActionProps = Pick<Props, 'approval' | 'isWhole' | 'onWhole' | 'onVote'>;

/** The votes that this person may cast. They disappear when the approval expires. */
function CardActions({ approval, isWhole, onWhole, onVote }: ActionProps) {
  const { state, expires_at, obstacle } = approval;
  const isOver = useSecondsLeft(expires_at) === 0;
  const mayVote = (decision: 'approve' | 'deny') => !isOver && may(approval, decision);
  return (
    <footer className="card-actions">
      {mayVote('approve') && <Button onClick={() => onVote('approve')}>Approve</Button>}
      {mayVote('deny') && (
        <Button variant="default" onClick={() => onVote('deny')}>
          Deny
        </Button>
      )}
      {state === 'pending' && isOver && (
        <span role="status">
          It expired at <Moment at={expires_at} />.
        </span>
      )}
      {obstacle !== null && <span className="quiet">{obstacleSays[obstacle]}.</span>}
      <Button variant="default" className="last-act" aria-expanded={isWhole} onClick={onWhole}>
        {isWhole ? 'Show less' : 'Show all signed data'}
      </Button>
    </footer>
  );
}
