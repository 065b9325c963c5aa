import type { Command } from 'commander';
import { Instant } from '@countersign/contracts';
import {
  getMcpServer,
  requestMcpServerApproval,
  scanMcpServer,
  type Approval,
  type McpServerDetail,
  type McpServerTool,
  type ScanReport,
} from '@countersign/contracts/governance-kernel';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { answered, connect, type Connection } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { listText, objectText, type Column, type Format } from '../output/format.ts';
import { formatOf, withOutput, type OutputOptions } from './options.ts';

const routes = { getMcpServer, requestMcpServerApproval, scanMcpServer };

/** Adds `scan` and `diff`, for review before a decision. */
export function addScanAndDiff(group: Command, io: Io): void {
  withOutput(group.command('diff'))
    .description('Show the changes in each tool of a server since its approval. Exit 1 if there are any.')
    .argument('<name>', 'a server, or one of its tools')
    .action((name: string, options: OutputOptions) =>
      withServers(io, async (connection) => {
        const { tools } = await serverCalled(connection, name);
        const changed = changedTools(tools);
        writeChanges(changed, formatOf(options), io);
        if (changed.length > 0)
          throw new CommandFailed(`${changed.length} of ${tools.length} tools differ from what was approved`, 1);
        io.tell('All tools are as approved.\n');
      }),
    );
  withOutput(group.command('scan'))
    .description('Scan tools for instructions to a model, hidden text, look-alike names and understated effects.')
    .argument('<name>', 'a server, or one of its tools')
    .action((name: string, options: OutputOptions) =>
      withServers(io, async (connection) =>
        writeFindings(await scanReports(connection, serverIdIn(name)), formatOf(options), io),
      ),
    );
}

export async function withServers(io: Io, act: (connection: Connection) => Promise<void> | void): Promise<void> {
  await act(await connect(configFrom(io.env)));
}

/** The server in a name: `notes` and `notes.read_note` both give `notes`. */
export function serverIdIn(name: string): string {
  const dot = name.indexOf('.');
  return dot === -1 ? name : name.slice(0, dot);
}

export async function serverCalled(connection: Connection, name: string): Promise<McpServerDetail> {
  return await answered(connection, () =>
    connection.ask(routes).getMcpServer({ params: { server_id: serverIdIn(name) }, query: {} }),
  );
}

const toolColumns: Column<McpServerTool>[] = [
  { title: 'TOOL', of: ({ name }) => name },
  { title: 'DEFINITION', of: ({ pin }) => pin },
  { title: 'WAS', of: ({ renamed_from: was }) => was },
  { title: 'CHANGED', of: ({ diff }) => diff.map(({ path }) => path).join(', ') || null },
];

export function changedTools(tools: readonly McpServerTool[]): McpServerTool[] {
  return tools.filter(({ pin }) => pin !== 'in_sync');
}

/** Lists the tools. In the table format, each changed member of a tool follows below the list. */
export function writeChanges(changed: readonly McpServerTool[], format: Format, io: Io): void {
  io.write(listText({ items: changed, columns: toolColumns, format }));
  if (format !== 'table') return;
  for (const { name, diff } of changed)
    for (const { path, before, after } of diff)
      io.write(objectText({ tool: name, member: path, approved: before, now: after }, 'table'));
}

export async function scanReports(connection: Connection, serverId: string): Promise<ScanReport[]> {
  const { reports } = await answered(connection, () =>
    connection.ask(routes).scanMcpServer({ query: {}, body: { server_id: serverId } }),
  );
  return reports;
}

export function writeFindings(reports: readonly ScanReport[], format: Format, io: Io): void {
  const findings = reports.flatMap((report) => report.findings);
  io.write(
    listText({
      items: findings,
      columns: [
        { title: 'SEVERITY', of: ({ severity }) => severity },
        { title: 'TOOL', of: ({ tool }) => tool },
        { title: 'FINDING', of: ({ detail }) => detail },
        { title: 'TEXT', of: ({ excerpt }) => excerpt },
      ],
      format,
    }),
  );
  for (const { problem } of reports) if (problem !== null) io.tell(`The tools could not be listed: ${problem}\n`);
  if (findings.length === 0)
    io.tell('No findings. A scan is not an approval: read the tools before you approve them.\n');
}

type Requested = { approval: Approval; url: string };
type RequestTerms = { reason: string; until?: string | undefined };

/** Requests the approval of exactly the tools in the passed description of the server. Throws CommandFailed. */
export async function requestApproval(
  connection: Connection,
  { server_id: serverId, definitions_hash: hash }: McpServerDetail,
  { reason, until }: RequestTerms,
): Promise<Requested> {
  const end = until === undefined ? {} : { expires_at: endOf(until) };
  if (hash === null) throw new CommandFailed(`${serverId} has listed no tools yet, so there is nothing to approve`, 1);
  const approval = await answered(connection, () =>
    connection.ask(routes).requestMcpServerApproval({
      params: { server_id: serverId },
      query: {},
      body: { definitions_hash: hash, reason, ...end },
    }),
  );
  return { approval, url: new URL(`/console/inbox/${approval.approval_id}`, connection.url).href };
}

/** Throws CommandFailed for a text that is not a time, or a time without a zone. */
function endOf(until: string): Instant {
  const isWhole = /(Z|[+-]\d{2}:\d{2})$/.test(until) || /^\d{4}-\d{2}-\d{2}$/.test(until);
  const atMs = isWhole ? Date.parse(until) : Number.NaN;
  if (Number.isNaN(atMs))
    throw new CommandFailed(
      `--until ${until} is not a time. Write a date, or a time with its zone: 2027-06-30T12:00:00Z`,
      2,
    );
  return Instant.parse(new Date(atMs).toISOString());
}
