import { Link } from '@tanstack/react-router';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { callCommand } from '../parts/call-command.ts';
import { EmptyState } from '../parts/empty-state.tsx';

/** The starter policy asks for an approval of what cannot be undone. */
const call = { tool: 'mail.send', effect_level: 'E3', args: { to: 'customer@example.org' } };

export function NothingWaits({ state }: { state: Approval['state'] }) {
  if (state !== 'pending') return <p className="quiet">No approval is {state}.</p>;
  return (
    <EmptyState title="Nothing is waiting" command={callCommand(call)}>
      When a rule asks for a person, the call appears here. To see one, <Link to="/runs">start the sample task</Link>,
      or send a call with an API key of this workspace in WORKSPACE_KEY.
    </EmptyState>
  );
}
