import { Link, useNavigate } from '@tanstack/react-router';
import { mayDo } from '@countersign/contracts';
import { useSnapshot } from '../live/snapshot.ts';
import { waitingCounts } from '../live/waiting-counts.ts';
import { callCommand } from '../parts/call-command.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { NoneLikeThis } from '../parts/none-like-this.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { stateWords } from './approval-states.ts';
import type { InboxSearch } from './inbox-search.ts';

/** A call that the starter policy escalates, because its effect is hard to undo. */
const call = { tool: 'mail.send', effect_level: 'E3', args: { to: 'customer@example.org' } };

/** The empty state of each tab. */
export function NothingWaits({ search: { tab, state } }: { search: InboxSearch }) {
  if (tab === 'mine') return <NothingForPerson />;
  if (tab === 'others')
    return (
      <EmptyState title="No call waits for other people">
        A call appears here when you may not decide it: you requested it, you approved it already, or the policy names
        other approvers.
      </EmptyState>
    );
  return state === undefined ? (
    <EmptyState title="No call was decided yet">
      Calls appear here once a person approved or denied them, and when they expired or were withdrawn.
    </EmptyState>
  ) : (
    <NoneInState state={state} />
  );
}

function NothingForPerson() {
  const { role } = useWorkspace();
  const { data } = useSnapshot();
  const others = (data && waitingCounts(data)?.others.count) ?? 0;
  if (others === 0)
    return (
      <EmptyState title="Nothing is waiting" command={callCommand(call)}>
        When a rule asks for a person, the call appears here. To see one, <Link to="/runs">start the sample task</Link>,
        or send a call with an API key of this workspace in WORKSPACE_KEY.
      </EmptyState>
    );
  const toOthers = (
    <Link to="/inbox" search={(before: object) => ({ ...before, tab: 'others' })} className="button">
      See calls that wait for others
    </Link>
  );
  return (
    <EmptyState title="Nothing waits for you" action={toOthers}>
      {mayDo(role, 'approval.decide')
        ? 'Calls that wait now need another person.'
        : 'Only partners and owners decide calls. You see what waits for them.'}
    </EmptyState>
  );
}

function NoneInState({ state }: { state: NonNullable<InboxSearch['state']> }) {
  const navigate = useNavigate();
  return (
    <NoneLikeThis
      title={`No decided call is in the state “${stateWords[state]}”`}
      onAll={() =>
        void navigate({ to: '/inbox', search: (before: object) => ({ ...before, tab: 'decided', state: undefined }) })
      }
    />
  );
}
