import type { Command } from 'commander';
import { disableMcpServer, type McpServerDetail } from '@countersign/contracts/governance-kernel';
import { CommandFailed } from '../command-failed.ts';
import { answered, type Connection } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { objectText, type Format } from '../output/format.ts';
import { formatOf, withOutput, type OutputOptions } from './options.ts';
import {
  changedTools,
  requestApproval,
  scanReports,
  serverCalled,
  serverIdIn,
  withServers,
  writeChanges,
  writeFindings,
} from './server-review.ts';

/** Exit status when the request is made and approvers still have to decide in a browser. */
const pendingStatus = 11;

type Decision = OutputOptions & { reason: string; until?: string };

/** Adds `approve` and `revoke`. An approval waits for approvers. A revocation takes effect at once. */
export function addServerDecisions(group: Command, io: Io, end: (status: number) => void): void {
  addServerApproval(group, io, { end });
  withOutput(group.command('revoke'))
    .description('Deny all calls to the tools of a server until it is approved again.')
    .argument('<name>', 'a server, or one of its tools')
    .requiredOption('--reason <text>', 'the reason, sealed with the revocation')
    .action((name: string, { reason, ...options }: Decision) =>
      withServers(io, (connection) => revoke(connection, { name, reason, format: formatOf(options) }, io)),
    );
}

type Approving = {
  end: (status: number) => void;
  /** Rejects when this group may not request an approval of the named server. */
  check?: (connection: Connection, name: string) => Promise<void>;
};

/** Adds `approve`. It only requests the approval, because an agent at the same terminal must not vote. */
export function addServerApproval(group: Command, io: Io, { end, check }: Approving): void {
  withOutput(group.command('approve'))
    .description(
      'Show the findings of a scan and all changes, and request the approval of all tools of the server. Exit 11 until approvers decide.',
    )
    .argument('<name>', 'a server, or one of its tools')
    .requiredOption('--reason <text>', 'what the approvers should know')
    .option('--until <time>', 'the end of the approval: a date, or a time with its zone')
    .action((name: string, { reason, until, ...options }: Decision) =>
      withServers(io, async (connection) => {
        await check?.(connection, name);
        const request = { name, reason, until, format: formatOf(options) };
        end((await approve(connection, request, io)) ? 0 : pendingStatus);
      }),
    );
}

type Deciding = { name: string; reason: string; until?: string | undefined; format: Format };

/** Requests the approval of the current tools of a server. Resolves to true if they are approved already. */
async function approve(connection: Connection, { name, reason, until, format }: Deciding, io: Io): Promise<boolean> {
  const server = await serverCalled(connection, name);
  const { server_id: serverId, definitions_hash: hash } = server;
  if (server.owner === 'installation')
    throw new CommandFailed(
      `${serverId} belongs to the installation and is shared by all workspaces. Ask its operator to approve it`,
      1,
    );
  const reports = await scanReports(connection, serverId);
  const changed = changedTools(server.tools);
  if (format === 'table') {
    writeFindings(reports, format, io);
    writeChanges(changed, format, io);
  }
  // The findings must be about the definitions that the request names. Others would mislead the approvers.
  if (reports.some(({ definitions_hash: scanned }) => scanned !== null && scanned !== hash))
    throw new CommandFailed(
      `The tools of ${serverId} have changed since they were recorded. Add the server again, and review its tools`,
      1,
    );
  const isApproved = server.state === 'approved' && changed.length === 0;
  const requested = isApproved ? null : await requestApproval(connection, server, { reason, until });
  const { approval = null, url = null } = requested ?? {};
  if (format !== 'table')
    io.write(
      objectText(
        { ...viewOf(server), findings: reports.flatMap(({ findings }) => findings), tools: changed, approval, url },
        format,
      ),
    );
  if (requested === null) {
    io.tell(`${serverId} is approved, and all tools are as approved.\n`);
    return true;
  }
  if (format === 'table') io.write(`${requested.approval.approval_id} ${requested.approval.state}\n`);
  io.tell(`Approval requested for all tools of ${serverId}, as shown. Decide: ${requested.url}\n`);
  return false;
}

async function revoke(connection: Connection, { name, reason, format }: Deciding, io: Io): Promise<void> {
  const server = await answered(connection, () =>
    connection
      .ask({ disableMcpServer })
      .disableMcpServer({ params: { server_id: serverIdIn(name) }, query: {}, body: { reason } }),
  );
  io.write(format === 'table' ? `${server.server_id} ${server.state}\n` : objectText(viewOf(server), format));
  io.tell('All further calls to the tools of the server are denied until a new approval is requested and granted.\n');
}

function viewOf({ server_id, state, reason, definitions_hash, revoked_by, revoked_at }: McpServerDetail) {
  return { server_id, state, reason, definitions_hash, revoked_by, revoked_at };
}
