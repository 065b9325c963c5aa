import { agentOf } from '@countersign/contracts';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { Shown } from './shown.tsx';

const personPrefix = 'usr_';
const service = 'service';

/**
 * The name of a caller: the address of a member, or a fixed name for the workspace's own agent. Other ids are names
 * already.
 */
export function useNameOf(actor: string): string {
  const { id } = useWorkspace();
  const isPerson = actor.startsWith(personPrefix);
  const { data, isLoading } = useWorkspaceQuery(
    ['members'],
    (client, signal) => client.getConsoleWorkspace({ params: { id }, signal }),
    { isNeeded: isPerson },
  );
  if (isPerson && isLoading) return 'A member';
  if (actor === agentOf(id)) return 'Workspace agent';
  if (actor === service) return 'Countersign';
  const member = data?.members.find(({ user_id: userId }) => userId === actor);
  return member === undefined ? actor : (member.email ?? member.name);
}

/** The name of a caller. The tooltip shows the id. */
export function Who({ actor }: { actor: string }) {
  const name = useNameOf(actor);
  if (name === actor) return <Shown text={actor} />;
  return (
    <span title={actor}>
      <Shown text={name} />
    </span>
  );
}
