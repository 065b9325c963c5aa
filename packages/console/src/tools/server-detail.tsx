import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { mayDo } from '@countersign/contracts';
import type { McpServerDetail, ScanReport } from '@countersign/contracts/governance-kernel';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { OfferedTools } from './offered-tools.tsx';
import { RevokeServer } from './revoke-server.tsx';
import { ServerApproval } from './server-approval.tsx';
import { serverStates } from './server-states.ts';
import { useRegistry } from './use-registry.ts';
import { useServer } from './use-server.ts';
import { Findings } from './findings.tsx';
import { WhatChanged } from './what-changed.tsx';

/** One server: its state, what it offers, what changed, and what a scan finds. */
export function ServerDetail({ serverId }: { serverId: string }) {
  const server = useServer(serverId);
  return (
    <section className="chart-card stacked" aria-label="Server">
      <Loaded query={server}>{(found) => <Whole server={found} />}</Loaded>
    </section>
  );
}

function Whole({ server }: { server: McpServerDetail }) {
  const { server_id, state, config, approved_by, approved_at, reason, not_connected, tools, hidden_tools } = server;
  const { word, tone, meaning } = serverStates[state];
  const address = [config['url'] ?? config['command'], config['address_digest'] ?? config['command_digest']];
  const changed = tools.filter(({ pin }) => pin === 'drifted');
  return (
    <>
      <div>
        <h3>
          <Shown text={server_id} /> <Mark tone={tone}>{word}</Mark>
        </h3>
        <p className="quiet">
          <Shown text={address.filter((text) => typeof text === 'string').join(' · ')} />
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
      <OfferedTools tools={tools} />
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
      <RevokeServer server={server} />
    </>
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
