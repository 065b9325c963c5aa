import { useQuery } from '@tanstack/react-query';
import { pageLimit, type WorkspaceId } from '@countersign/contracts';
import { listConsoleTools } from '@countersign/contracts/control-plane';
import { listTasks } from '@countersign/contracts/gateway';
import { listSeenAgents, type Agent } from '@countersign/contracts/governance-kernel';
import { workspaceClient } from '../api/clients.ts';

type NamedObject = { kind: 'agent' | 'tool' | 'task'; name: string; to: string };

const routes = { listConsoleTools, listSeenAgents, listTasks };
const [shortest, shownMax] = [2, 20];
const freshMs = 10_000;

/**
 * The agents, tools and tasks of the workspace whose names contain the text, at most 20. The newest tasks are searched.
 * A list that cannot be read leaves out its objects.
 */
export function useNamedObjects(workspace: { id: WorkspaceId } | null, text: string): NamedObject[] {
  const wanted = text.trim().toLowerCase();
  const { data = [] } = useQuery({
    queryKey: [workspace?.id, 'names'],
    queryFn: ({ signal }) => (workspace === null ? [] : readNames(workspace.id, signal)),
    enabled: workspace !== null && wanted.length >= shortest,
    staleTime: freshMs,
  });
  if (wanted.length < shortest) return [];
  return data.filter(({ name }) => name.toLowerCase().includes(wanted)).slice(0, shownMax);
}

async function readNames(id: WorkspaceId, signal: AbortSignal): Promise<NamedObject[]> {
  const client = workspaceClient(routes, id);
  const query = { limit: pageLimit.max };
  const lists = await Promise.allSettled([
    client.listSeenAgents({ query: {}, signal }).then(({ body }) => body.data.map(agentNamed)),
    client.listConsoleTools({ params: { id }, query, signal }).then(({ body }) => body.data.map(toolNamed)),
    client.listTasks({ query, signal }).then(({ body }) => body.data.map(taskNamed)),
  ]);
  return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
}

function agentNamed({
  principal_id: id,
  display_name: shown,
}: Pick<Agent, 'principal_id' | 'display_name'>): NamedObject {
  return { kind: 'agent', name: shown === null ? id : `${shown} (${id})`, to: `/agents/${encodeURIComponent(id)}` };
}

function toolNamed({ tool: name }: { tool: string }): NamedObject {
  return { kind: 'tool', name, to: `/tools/${encodeURIComponent(name)}` };
}

function taskNamed({ id, title }: { id: string; title: string }): NamedObject {
  return { kind: 'task', name: title, to: `/runs/${id}` };
}
