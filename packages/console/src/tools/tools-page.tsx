import { useNavigate, useParams } from '@tanstack/react-router';
import type { RegisteredTool } from '@countersign/contracts/governance-kernel';
import { CopyCommand } from '../parts/copy-command.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { ToolDrawer } from './tool-drawer.tsx';
import { ToolTable } from './tool-table.tsx';

const askAgainMs = 5_000;

/** `/tools`: every tool that a server has shown to the kernel. `/tools/{tool}`: its definition, and how it has drifted. */
export function ToolsPage() {
  const { id } = useWorkspace();
  const { id: opened }: { id?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const list = useWorkspaceList(
    ['tools'],
    (client, { signal, ...at }) => client.listConsoleTools({ params: { id }, query: at, signal }),
    { everyMs: askAgainMs },
  );
  return (
    <Page
      title="Tools"
      about="What MCP servers offer. A tool is called as long as its definition is the one that was approved; when it changes, it is stopped until somebody has looked."
    >
      <Loaded query={list.query}>{({ items }) => <Tools tools={items} />}</Loaded>
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
    <EmptyState title="No server has shown a tool yet" command="GOV_MCP_SERVERS=servers.json make up">
      Tools come from MCP servers, which whoever runs the installation lists in a file. Each tool appears here with its
      definition, and is pinned to it: a server that changes a tool later is found out.
    </EmptyState>
  );
}
