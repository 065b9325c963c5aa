import { Link } from '@tanstack/react-router';
import { callCommand } from './call-command.ts';
import { EmptyState } from './empty-state.tsx';

const call = { tool: 'web.search', args: { q: 'countersign' } };

/** Before there is a receipt: how to get one. */
export function FirstCall() {
  return (
    <EmptyState title="No calls yet" command={callCommand(call)}>
      <Link to="/members">Make a key</Link> for this workspace, store it in WORKSPACE_KEY, and send a first call. Its
      receipt appears here.
    </EmptyState>
  );
}
