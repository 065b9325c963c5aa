import { Link } from '@tanstack/react-router';
import type { KeyboardEvent, ReactNode } from 'react';
import type { InboxApproval } from '@countersign/contracts/control-plane';
import { Countdown } from '../parts/countdown.tsx';
import { Mark } from '../parts/mark.tsx';
import { Shown } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';
import { stateTones, stateWords } from './approval-states.ts';
import type { Choice } from './use-choice.ts';

type Props = {
  approvals: readonly InboxApproval[];
  hasMore: boolean;
  choice: Choice;
  onOpen: () => void;
  /** Shown below the list. */
  children: ReactNode;
};

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** The calls, one line for each. Arrow keys move between the lines, and Enter opens one. */
export function CallList({ approvals, hasMore, choice: { chosenId, list, move }, onOpen, children }: Props) {
  const pressed = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(step);
  };
  return (
    <section className="call-list" aria-label="Calls">
      {approvals.length === 0 ? (
        <p className="quiet">
          {hasMore ? 'None of the calls read so far is in this tab.' : 'No other call is in this tab.'}
        </p>
      ) : (
        <ul className="list lines" ref={list} onKeyDown={pressed}>
          {approvals.map((approval) => (
            <Line
              key={approval.approval_id}
              approval={approval}
              isChosen={approval.approval_id === chosenId}
              onOpen={onOpen}
            />
          ))}
        </ul>
      )}
      <p className="quiet key-hints">
        <kbd>J</kbd> <kbd>K</kbd> next, previous <kbd>A</kbd> approve <kbd>D</kbd> deny
      </p>
      {children}
    </section>
  );
}

type LineProps = { approval: InboxApproval; isChosen: boolean; onOpen: () => void };

function Line({ approval, isChosen, onOpen }: LineProps) {
  const { approval_id: id, tool, action, resource, requested_by: caller, state, expires_at: until } = approval;
  return (
    <li data-id={id} data-open={isChosen || undefined}>
      <span className="grow">
        <Link
          to="/inbox/$id"
          params={{ id }}
          search={(before: object) => before}
          resetScroll={false}
          onClick={onOpen}
          {...(isChosen && { 'aria-current': 'page' as const })}
        >
          <Shown text={tool ?? action} />
        </Link>
        <span className="quiet">
          <Who actor={caller} />
          {resource !== null && (
            <>
              {' · '}
              <Shown text={resource} />
            </>
          )}
        </span>
      </span>
      <span className="quiet line-end">
        {state === 'pending' ? <Countdown until={until} /> : <Mark tone={stateTones[state]}>{stateWords[state]}</Mark>}
      </span>
    </li>
  );
}
