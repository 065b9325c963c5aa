import { Link } from '@tanstack/react-router';
import type { PersonRole } from '@countersign/contracts';
import { Shown } from '../parts/shown.tsx';
import type { Me } from '../workspace/open-workspace.ts';

type Answer = { decision: 'approve' | 'deny'; client: string; workspace_id: string | null; role: PersonRole | null };

/** Shows the result of the person's decision about a program. */
export function Answered({ answer, workspaces }: { answer: Answer; workspaces: Me['workspaces'] }) {
  const { decision, client, workspace_id, role } = answer;
  const place = workspaces.find(({ id }) => id === workspace_id)?.name ?? workspace_id ?? '';
  if (decision === 'deny')
    return (
      <p className="note" role="status">
        <Shown text={client} /> was refused. It got no access.
      </p>
    );
  return (
    <p className="note note-good" role="status">
      <Shown text={client} /> may act in <Shown text={place} /> as {role}. Go back to its terminal. You can end its
      access under <Link to="/you">Your account</Link>.
    </p>
  );
}
