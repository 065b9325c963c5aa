import { Link } from '@tanstack/react-router';
import { callCommand } from './call-command.ts';
import { EmptyState } from './empty-state.tsx';

const call = { tool: 'web.search', args: { q: 'countersign' } };

/** Shown before the first receipt: how to send a call. */
export function FirstCall() {
  return (
    <EmptyState title="Send a first call" command={callCommand(call)}>
      <Link to="/members">Create a key</Link> for this workspace, store it in WORKSPACE_KEY, and run this. The decision
      appears here within a second.
    </EmptyState>
  );
}
