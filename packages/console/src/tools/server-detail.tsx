import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { mayDo } from '@countersign/contracts';
import type { McpServerDetail, McpServerTool, ScanReport } from '@countersign/contracts/governance-kernel';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { effectWords } from './effect-words.ts';
import { ServerApproval } from './server-approval.tsx';
import { definitionStates, serverStates } from './server-states.ts';
import { useRegistry } from './use-registry.ts';
import { Findings } from './findings.tsx';
import { WhatChanged } from './what-changed.tsx';

/** An approval that was given takes effect within about a second. */
const whileRequestedMs = 2_000;

/** One server: its state, what it offers, what changed, and what a scan finds. */
export function ServerDetail({ serverId }: { serverId: string }) {
  const { id } = useWorkspace();
  const registry = useRegistry();
  const server = useQuery({
    queryKey: [id, 'tools', 'server', serverId],
    queryFn: async ({ signal }) =>
      (await registry.getMcpServer({ params: { server_id: serverId }, query: {}, signal })).body,
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && data.approval_request !== null ? whileRequestedMs : false,
  });
  return (
    <section className="chart-card stacked" aria-label="Server">
      <Loaded query={server}>{(found) => <Whole server={found} />}</Loaded>
    </section>
  );
}

function Whole({ server }: { server: McpServerDetail }) {
  const { server_id, state, config, approved_by, approved_at, reason, not_connected, tools, hidden_tools } = server;
  const { word, tone, meaning } = serverStates[state];
  const address = config['url'] ?? config['command'];
  const changed = tools.filter(({ pin }) => pin === 'drifted');
  return (
    <>
      <div>
        <h3>
          <Shown text={server_id} /> <Mark tone={tone}>{word}</Mark>
        </h3>
        <p className="quiet">
          {typeof address === 'string' && <Shown text={address} />}
          {approved_at !== null && (
            <>
              {' · approved '}
              {approved_by !== null && (
                <>
                  by <Shown text={approved_by} />{' '}
                </>
              )}
              <Moment at={approved_at} />
            </>
          )}
        </p>
      </div>
      <p className={tone === 'good' ? 'quiet' : 'note note-wait'}>
        {meaning} {reason !== null && <Shown text={reason} />}{' '}
        {not_connected !== null && <Shown text={not_connected} />}
      </p>
      {changed.length > 0 && (
        <p className="note note-problem">
          <strong>
            {changed.length === 1 ? '1 tool changed' : `${changed.length} tools changed`} since the approval. Calls are
            blocked.
          </strong>{' '}
          <Link to="/activity" search={{ reason: 'SCHEMA_DRIFT' }}>
            See calls
          </Link>
        </p>
      )}
      <Offered tools={tools} />
      {changed.map((tool) => (
        <WhatChanged key={tool.name} tool={tool} />
      ))}
      {hidden_tools.length > 0 && (
        <p className="quiet">
          Hidden, because the kernel cannot use them: <Shown text={hidden_tools.map(({ name }) => name).join(', ')} />
        </p>
      )}
      <Scan serverId={server_id} />
      <ServerApproval server={server} />
    </>
  );
}

function Offered({ tools }: { tools: readonly McpServerTool[] }) {
  if (tools.length === 0) return <p className="quiet">It has listed no tools.</p>;
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Tools of the server">
      <table>
        <thead>
          <tr>
            <th>Tool</th>
            <th className="wide">It states</th>
            <th>Definition</th>
          </tr>
        </thead>
        <tbody>
          {tools.map(({ name, annotated_effect, pin, renamed_from }) => (
            <tr key={name}>
              <td>
                <code>
                  <Shown text={name} />
                </code>
                {renamed_from !== null && (
                  <span className="quiet">
                    {' '}
                    was <Shown text={renamed_from} />
                  </span>
                )}
              </td>
              <td className="wide">{effectWords[annotated_effect]}</td>
              <td className="tight">
                <Mark tone={definitionStates[pin].tone}>{definitionStates[pin].word}</Mark>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Scan({ serverId }: { serverId: string }) {
  const { role } = useWorkspace();
  const registry = useRegistry();
  const scan = useMutation({
    mutationFn: async (): Promise<ScanReport | undefined> =>
      (await registry.scanMcpServer({ query: {}, body: { server_id: serverId } })).body.reports[0],
  });
  if (!mayDo(role, 'tool.manage')) return null;
  return (
    <div className="stacked">
      <div>
        <Button size="xs" variant="default" loading={scan.isPending} onClick={() => scan.mutate()}>
          Scan now
        </Button>
      </div>
      {scan.error !== null && <ProblemNote error={scan.error} />}
      {scan.data !== undefined && <Findings findings={scan.data.findings} problem={scan.data.problem} />}
    </div>
  );
}
