import { mayDo } from '@countersign/contracts';
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Plan, PlanState } from '@countersign/contracts/control-plane';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark, type Tone } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { RadiusFacts } from '../radius/radius-facts.tsx';
import { stopKinds } from '../stops/kinds.ts';
import { TargetText } from '../stops/target-text.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useIncidents } from './use-incidents.ts';

const tones: Readonly<Record<PlanState, Tone>> = {
  draft: 'plain',
  pending: 'wait',
  approved: 'good',
  rejected: 'bad',
  expired: 'plain',
  committed: 'live',
};

const stateWords: Readonly<Record<PlanState, string>> = {
  draft: 'Draft',
  pending: 'Waiting',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired',
  committed: 'Done',
};

/** One plan: its stops, their reach, and the actions from draft to commit. */
export function PlanCard({ plan }: { plan: Plan }) {
  const { plan_id, state, steps, plan_hash, expires_at, dry_run } = plan;
  return (
    <article className="card" aria-label={`Plan, ${state}`} data-id={plan_id}>
      <header className="card-head">
        <h3>{inStops(plan)}</h3>
        <Mark tone={tones[state]}>{stateWords[state]}</Mark>
        <span className="card-time quiet">
          expires <Moment at={expires_at} />
        </span>
      </header>
      <ul>
        {steps.map(({ kind, target, reason }) => (
          <li key={target}>
            {stopKinds[kind].title}: <TargetText target={target} /> · “<Shown text={reason} />”
          </li>
        ))}
      </ul>
      <h4>Effect on calls of the last 7 days</h4>
      <RadiusFacts radius={dry_run} />
      <p>
        {dry_run.denials.count === 1 ? '1 call' : `${dry_run.denials.count} calls`} would have been denied.{' '}
        {dry_run.reversibility === 'whole'
          ? 'When the stops are lifted, calls continue as before.'
          : 'Approvals may expire in the meantime and must be requested again.'}
      </p>
      <p className="quiet">
        Hash of the plan: <CopyText text={plan_hash} />
      </p>
      <PlanActions plan={plan} />
    </article>
  );
}

function inStops({ steps }: Plan): string {
  return steps.length === 1 ? '1 stop' : `${steps.length} stops`;
}

function PlanActions({ plan }: { plan: Plan }) {
  const { role } = useWorkspace();
  switch (plan.state) {
    case 'draft':
    case 'pending':
      return mayDo(role, 'plan.approve') ? (
        <Approve plan={plan} />
      ) : (
        <p className="quiet">Only owners can approve it.</p>
      );
    case 'approved':
      return mayDo(role, 'plan.commit') ? <Commit plan={plan} /> : <p className="quiet">Only owners can commit it.</p>;
    case 'rejected':
    case 'expired':
    case 'committed':
      return null;
    default:
      return plan.state satisfies never;
  }
}

function Approve({ plan: { plan_id, plan_hash, state } }: { plan: Plan }) {
  const { id } = useWorkspace();
  const incidents = useIncidents();
  const queries = useQueryClient();
  const approve = useMutation({
    mutationFn: () => incidents.approvePlan({ params: { plan_id }, body: { plan_hash } }),
    onSettled: () => queries.invalidateQueries({ queryKey: [id, 'incident'] }),
  });
  return (
    <footer className="card-actions">
      <Button size="xs" loading={approve.isPending} onClick={() => approve.mutate()}>
        {state === 'pending' ? 'Request approval again' : 'Approve'}
      </Button>
      {state === 'pending' && (
        <span>
          Another person must vote on it first: <Link to="/inbox">open the inbox</Link>
        </span>
      )}
      {approve.error !== null && <ProblemNote error={approve.error} />}
    </footer>
  );
}

function Commit({ plan }: { plan: Plan }) {
  const { id } = useWorkspace();
  const incidents = useIncidents();
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const { plan_id, plan_hash, steps } = plan;
  const commit = async () => {
    try {
      await incidents.commitPlan({ params: { plan_id }, body: { plan_hash } });
    } finally {
      await queries.invalidateQueries({ queryKey: [id] });
    }
  };
  const says = (
    <>
      <p>These stops take effect together. None takes effect if they would affect more than what was approved:</p>
      <ul>
        {steps.map(({ kind, target }) => (
          <li key={target}>
            {kind} <Shown text={target} />
          </li>
        ))}
      </ul>
    </>
  );
  return (
    <footer className="card-actions">
      <Button size="xs" color="red" onClick={() => setAsked(true)}>
        Commit
      </Button>
      <ConfirmDialog
        question={isAsked ? { title: 'Commit the plan', says, act: 'Commit', typed: inStops(plan), run: commit } : null}
        onClose={() => setAsked(false)}
      />
    </footer>
  );
}
