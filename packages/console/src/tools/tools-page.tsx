import { useNavigate, useParams } from '@tanstack/react-router';
import { McpServerId, type RegisteredTool } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { CopyCommand } from '../parts/copy-command.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { usePageSearch } from '../workspace/page-search.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { Servers } from './servers.tsx';
import { ToolDrawer } from './tool-drawer.tsx';
import { ToolTable } from './tool-table.tsx';

const askAgainMs = 5_000;
const Search = z.object({ server: McpServerId.optional().catch(undefined) });

/**
 * `/tools`: every tool that a server has shown to the kernel. `/tools/{tool}`: its definition, and what has changed.
 */
export function ToolsPage() {
  const { id } = useWorkspace();
  const { id: opened }: { id?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [{ server }] = usePageSearch(Search);
  const list = useWorkspaceList(
    ['tools'],
    (client, { signal, ...at }) => client.listConsoleTools({ params: { id }, query: at, signal }),
    { everyMs: askAgainMs },
  );
  return (
    <Page
      title="Tools"
      about="The tools that agents can call, and the servers that offer them. A changed tool is blocked until the change is approved."
    >
      <Servers opened={server} />
      <section aria-label="All tools">
        <h2>All tools</h2>
        <Loaded query={list.query}>{({ items }) => <Tools tools={items} />}</Loaded>
      </section>
      <More list={list} />
      <CopyCommand words="tools ls" filters={{ cursor: list.cursor }} count={list.count} />
      <ToolDrawer
        tool={list.query.data?.items.find(({ tool }) => tool === opened) ?? null}
        onClose={() => void navigate({ to: '/tools' })}
      />
    </Page>
  );
}

function Tools({ tools }: { tools: readonly RegisteredTool[] }) {
  if (tools.length > 0) return <ToolTable tools={tools} />;
  return (
    <EmptyState title="No tools yet" command="GOV_MCP_SERVERS=servers.json make up">
      Tools come from MCP servers, which the operator of the installation lists in a file. Each tool is pinned to its
      definition, so a later change is detected.
    </EmptyState>
  );
}
