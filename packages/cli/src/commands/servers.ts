import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import {
  getMcpServer,
  listMcpServers,
  registerMcpServer,
  requestMcpServerApproval,
  scanMcpServer,
  type McpServer,
  type McpServerDetail,
  type McpServerTool,
} from '@countersign/contracts/governance-kernel';
import { ServerDocument } from '@countersign/contracts/governance-kernel';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { answered, connect, type Connection } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { listText, objectText, type Column, type Format } from '../output/format.ts';
import { addList } from './list-command.ts';
import { outputOption } from './options.ts';

const columns: Column<McpServer>[] = [
  { title: 'SERVER', of: ({ server_id: id }) => id },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'OF', of: ({ owner }) => (owner === 'tenant' ? 'this workspace' : 'this installation') },
  { title: 'TRANSPORT', of: ({ transport }) => transport },
  { title: 'APPROVED BY', of: ({ approved_by: by }) => by },
  { title: 'NOT CONNECTED', of: ({ not_connected: problem }) => problem },
];

const routes = { getMcpServer, registerMcpServer, requestMcpServerApproval, scanMcpServer };

/** `countersign mcp`: the servers behind the boundary. */
export function addServers(program: Command, io: Io): void {
  const mcp = addList<McpServer>(program, io, {
    name: 'mcp',
    about: 'The MCP servers of this workspace, and what is approved of them.',
    says: 'List servers, by name.',
    columns,
    ifNone: 'There is no server yet. Add one: countersign mcp add NAME --url URL',
    read: (connection, query) => connection.ask({ listMcpServers }).listMcpServers({ query }),
  });
  mcp
    .command('add')
    .description('Add a server, in quarantine: its tools can be seen, and not called, until it is approved.')
    .argument('[name]', 'the name of the server: with --url or a command')
    .argument('[command...]', 'after --: a server over stdio, which starts in a sandbox')
    .option('--url <url>', 'a server over streamable HTTP')
    .option('--header <name: value...>', 'a header of each request to it, such as "Authorization: Bearer TOKEN"')
    .option('--env <NAME=value...>', 'a variable of the command')
    .option('--file <path>', 'a file with mcpServers (Claude, Cursor), servers (VS Code) or a server.json; - is stdin')
    .addOption(outputOption())
    .action((name: string | undefined, command: string[], options: Adding) =>
      withServers(io, (connection) => add(connection, documentOf({ name, command, ...options }), options.output, io)),
    );
  mcp
    .command('diff')
    .description('Show each tool of a server that is not as it was approved, member by member. Exit 1 if there is one.')
    .argument('<name>')
    .addOption(outputOption())
    .action((name: string, { output }: { output: Format }) =>
      withServers(io, async (connection) => showDiff(await serverCalled(connection, name), output, io)),
    );
  mcp
    .command('scan')
    .description('Look for instructions to a model, hidden text, look-alikes and understated effects.')
    .argument('<name>')
    .addOption(outputOption())
    .action((name: string, { output }: { output: Format }) =>
      withServers(io, (connection) => scan(connection, name, output, io)),
    );
  mcp
    .command('request')
    .description('Ask owners and partners to approve exactly what the server lists now. They decide in the inbox.')
    .argument('<name>')
    .requiredOption('--reason <text>', 'what the approvers should know')
    .addOption(outputOption())
    .action((name: string, { reason, output }: { reason: string; output: Format }) =>
      withServers(io, (connection) => request(connection, { name, reason, output }, io)),
    );
}

type Adding = { url?: string; header?: string[]; env?: string[]; file?: string; output: Format };

async function withServers(io: Io, act: (connection: Connection) => Promise<void> | void): Promise<void> {
  await act(await connect(configFrom(io.env)));
}

async function serverCalled(connection: Connection, name: string): Promise<McpServerDetail> {
  return await answered(connection, () =>
    connection.ask(routes).getMcpServer({ params: { server_id: name }, query: {} }),
  );
}

async function add(connection: Connection, body: ServerDocument, output: Format, io: Io): Promise<void> {
  const { servers } = await answered(connection, () => connection.ask(routes).registerMcpServer({ query: {}, body }));
  if (output !== 'table') return io.write(objectText(servers, output));
  io.write(listText({ items: servers, columns, format: output }));
  for (const { server_id: id, problem, tools, findings, state } of servers) {
    if (problem !== null) io.tell(`${id}: its tools could not be listed: ${problem}\n`);
    else io.tell(`${id}: ${tools.length} tools, ${findings.length} findings (countersign mcp scan ${id})\n`);
    if (state === 'quarantined') io.tell(`Next: countersign mcp request ${id} --reason "what it is for"\n`);
  }
}

/** Throws CommandFailed for what is no server, before anything is sent. */
function documentOf({ name, command, url, header, env, file }: Partial<Adding> & Named): ServerDocument {
  const written =
    file === undefined
      ? {
          server_id: name,
          ...(url === undefined ? {} : { url, headers: pairs(header, ':') }),
          ...(command.length === 0 ? {} : { command: command[0], args: command.slice(1), env: pairs(env, '=') }),
        }
      : { ...(name === undefined ? {} : { server_id: name }), ...readDocument(file) };
  const parsed = ServerDocument.safeParse(written);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? 'The server' : issue.path.join('.');
  throw new CommandFailed(
    `${place} ${issue?.message ?? 'is not valid'}. Give NAME with --url or a command, or --file`,
    2,
  );
}

type Named = { name: string | undefined; command: string[] };

function pairs(given: string[] = [], separator: string): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf(separator);
      if (at < 1) throw new CommandFailed(`Write a name, "${separator}" and a value, instead of a value alone`, 2);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

/** A `server.json` has a name and remotes or packages at its top; every other form names itself. */
function readDocument(path: string): object {
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(path === '-' ? 0 : path, 'utf8'));
  } catch (cause) {
    throw new CommandFailed(`${path} cannot be read as JSON: ${String(cause)}`, 2);
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new CommandFailed(`${path} is not a JSON object`, 2);
  const isOfRegistry = 'name' in document && ('remotes' in document || 'packages' in document);
  return isOfRegistry ? { server_json: document } : document;
}

const toolColumns: Column<McpServerTool>[] = [
  { title: 'TOOL', of: ({ name }) => name },
  { title: 'DEFINITION', of: ({ pin }) => pin },
  { title: 'WAS', of: ({ renamed_from: was }) => was },
  { title: 'CHANGED', of: ({ diff }) => diff.map(({ path }) => path).join(', ') || null },
];

function showDiff({ tools }: McpServerDetail, output: Format, io: Io): void {
  const changed = tools.filter(({ pin }) => pin !== 'in_sync');
  io.write(listText({ items: changed, columns: toolColumns, format: output }));
  if (output === 'table')
    for (const { name, diff } of changed)
      for (const { path, before, after } of diff)
        io.write(objectText({ tool: name, member: path, approved: before, now: after }, 'table'));
  if (changed.length > 0) throw new CommandFailed(`${changed.length} of ${tools.length} tools are not as approved`, 1);
  io.tell('Every tool is as it was approved.\n');
}

async function scan(connection: Connection, name: string, output: Format, io: Io): Promise<void> {
  const { reports } = await answered(connection, () =>
    connection.ask(routes).scanMcpServer({ query: {}, body: { server_id: name } }),
  );
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
      format: output,
    }),
  );
  for (const { problem } of reports) if (problem !== null) io.tell(`Its tools could not be listed: ${problem}\n`);
  if (findings.length === 0)
    io.tell('Nothing was found. A scan decides nothing: read the tools before you approve them.\n');
}

type Requesting = { name: string; reason: string; output: Format };

async function request(connection: Connection, { name, reason, output }: Requesting, io: Io): Promise<void> {
  const { definitions_hash: hash } = await serverCalled(connection, name);
  if (hash === null) throw new CommandFailed(`${name} has listed no tools yet, so there is nothing to approve`, 1);
  const approval = await answered(connection, () =>
    connection.ask(routes).requestMcpServerApproval({
      params: { server_id: name },
      query: {},
      body: { definitions_hash: hash, reason },
    }),
  );
  io.write(output === 'table' ? `${approval.approval_id} ${approval.state}\n` : objectText(approval, output));
  io.tell(`Decide: ${new URL(`/console/inbox/${approval.approval_id}`, connection.url).href}\n`);
}
