import { IconUserQuestion } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { InboxApproval } from '@countersign/contracts/control-plane';
import { Countdown } from '../parts/countdown.tsx';
import { Shown } from '../parts/shown.tsx';
import { WhatItDoes } from '../parts/what-it-does.tsx';
import { Who } from '../parts/who.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';

const shownMax = 3;
const readMax = 20;

/**
 * The first calls that wait for the person, each with its remaining time. Further calls are a number with a link to the
 * inbox.
 */
export function WaitingCalls({ count, text }: { count: number; text: string }) {
  const { id } = useWorkspace();
  const { data } = useWorkspaceQuery(['approvals', 'attention'], (client, signal) =>
    client.listInboxApprovals({ params: { id }, query: { state: 'pending', limit: readMax }, signal }),
  );
  const calls = (data?.data ?? []).filter(({ may_decide: mayDecide }) => mayDecide).slice(0, shownMax);
  const others = count - calls.length;
  return (
    <>
      {calls.map((approval) => (
        <Call key={approval.approval_id} approval={approval} />
      ))}
      {others > 0 && (
        <li>
          <Symbol />
          <span className="grow">
            {calls.length === 0 ? text : `${others} more ${others === 1 ? 'call' : 'calls'}`}
          </span>
          <Link to="/inbox" className={calls.length === 0 ? 'button button-primary' : 'button'}>
            {calls.length === 0 ? 'Review' : 'See all'}
          </Link>
        </li>
      )}
    </>
  );
}

function Call({ approval }: { approval: InboxApproval }) {
  const { approval_id: id, requested_by: caller, resource, expires_at: until } = approval;
  return (
    <li data-id={id}>
      <Symbol />
      <span className="grow">
        <strong>
          <Who actor={caller} />
        </strong>{' '}
        wants to <WhatItDoes call={approval} />
        {resource !== null && (
          <span className="quiet">
            {' '}
            · <Shown text={resource} />
          </span>
        )}
      </span>
      <span className="quiet until">
        <Countdown until={until} />
      </span>
      <Link to="/inbox/$id" params={{ id }} className="button button-primary">
        Review
      </Link>
    </li>
  );
}

function Symbol() {
  return (
    <span className="symbol symbol-wait">
      <IconUserQuestion size={16} aria-hidden="true" />
    </span>
  );
}
