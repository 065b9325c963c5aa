import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { mayDo } from '@countersign/contracts';
import type { McpServer } from '@countersign/contracts/governance-kernel';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { ServerDetail } from './server-detail.tsx';
import { serverStates } from './server-states.ts';
import { useRegistry } from './use-registry.ts';

const AddServer = lazy(async () => ({ default: (await import('./add-server.tsx')).AddServer }));
const everyMs = 10_000;
const serversMax = 200;

/** The servers that offer tools, those that need action first. One server is open beside the list. */
export function Servers({ opened }: { opened: string | undefined }) {
  const { id, role } = useWorkspace();
  const registry = useRegistry();
  const queries = useQueryClient();
  const [isAdding, setAdding] = useState(false);
  const servers = useQuery({
    queryKey: [id, 'tools', 'servers'],
    queryFn: async ({ signal }) => (await registry.listMcpServers({ query: { limit: serversMax }, signal })).body.data,
    refetchInterval: everyMs,
  });
  const add = mayDo(role, 'tool.manage') && (
    <Button size="xs" onClick={() => setAdding(true)}>
      Add server
    </Button>
  );
  return (
    <section aria-label="Servers">
      <div className="section-head">
        <h2>Servers</h2>
        {add}
      </div>
      <Loaded query={servers}>
        {(list) =>
          list.length === 0 ? <NoServers /> : <ListAndDetail servers={list.toSorted(byNeed)} opened={opened} />
        }
      </Loaded>
      <Suspense>
        {isAdding && (
          <AddServer
            onClose={() => setAdding(false)}
            onAdded={() => void queries.invalidateQueries({ queryKey: [id, 'tools'] })}
          />
        )}
      </Suspense>
    </section>
  );
}

const byNeed = (a: McpServer, b: McpServer) =>
  serverStates[a.state].order - serverStates[b.state].order || (a.server_id < b.server_id ? -1 : 1);

function NoServers() {
  return (
    <EmptyState title="No servers yet">
      Add one by its URL. It starts in quarantine: its tools can be seen, and not called.
    </EmptyState>
  );
}

function ListAndDetail({ servers, opened }: { servers: readonly McpServer[]; opened: string | undefined }) {
  const shown = servers.find(({ server_id }) => server_id === opened) ?? servers[0];
  return (
    <div className="list-detail">
      <ul className="list" aria-label="List of servers">
        {servers.map((server) => (
          <Line key={server.server_id} server={server} isShown={server === shown} />
        ))}
      </ul>
      {shown !== undefined && <ServerDetail key={shown.server_id} serverId={shown.server_id} />}
    </div>
  );
}

function Line({ server: { server_id, state, owner }, isShown }: { server: McpServer; isShown: boolean }) {
  const { word, tone } = serverStates[state];
  return (
    <li>
      <span className="grow">
        <Link
          to="/tools"
          search={(before: object) => ({ ...before, server: server_id })}
          activeOptions={{ exact: true, includeSearch: true }}
          {...(isShown && { 'aria-current': 'page' as const })}
        >
          <Shown text={server_id} />
        </Link>
        <span className="quiet"> {owner === 'installation' ? 'of this installation' : 'of this workspace'}</span>
      </span>
      <Mark tone={tone}>{word}</Mark>
    </li>
  );
}
