import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import {
  listMcpServers,
  registerMcpServer,
  ServerDocument,
  type McpServer,
} from '@countersign/contracts/governance-kernel';
import { CommandFailed } from '../command-failed.ts';
import { answered, type Connection } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { listText, objectText, type Column, type Format } from '../output/format.ts';
import { pairs } from './header-options.ts';
import { addList } from './list-command.ts';
import { outputOption } from './options.ts';
import { addScanAndDiff, requestApproval, serverCalled, withServers } from './server-review.ts';

const columns: Column<McpServer>[] = [
  { title: 'SERVER', of: ({ server_id: id }) => id },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'OF', of: ({ owner }) => (owner === 'tenant' ? 'this workspace' : 'this installation') },
  { title: 'TRANSPORT', of: ({ transport }) => transport },
  { title: 'APPROVED BY', of: ({ approved_by: by }) => by },
  { title: 'NOT CONNECTED', of: ({ not_connected: problem }) => problem },
];

/** `countersign mcp`: the servers that agents reach through the boundary. */
export function addServers(program: Command, io: Io): void {
  const mcp = addList<McpServer>(program, io, {
    name: 'mcp',
    about: 'The MCP servers of this workspace, with the state of their approval.',
    says: 'List servers, by name.',
    columns,
    ifNone: 'No servers yet. Add one: countersign mcp add NAME --url URL',
    read: (connection, query) => connection.ask({ listMcpServers }).listMcpServers({ query }),
  });
  mcp
    .command('add')
    .description('Add a server in quarantine. Until it is approved, its tools are visible but cannot be called.')
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
  addScanAndDiff(mcp, io);
  mcp
    .command('request')
    .description('Ask owners and partners to approve exactly what the server lists now. They decide in the inbox.')
    .argument('<name>')
    .requiredOption('--reason <text>', 'what the approvers should know')
    .option('--until <time>', 'the end of the approval: a date, or a time with its zone')
    .addOption(outputOption())
    .action((name: string, terms: Omit<Requesting, 'name'>) =>
      withServers(io, (connection) => request(connection, { name, ...terms }, io)),
    );
}

type Adding = { url?: string; header?: string[]; env?: string[]; file?: string; output: Format };

async function add(connection: Connection, body: ServerDocument, output: Format, io: Io): Promise<void> {
  const { servers } = await answered(connection, () =>
    connection.ask({ registerMcpServer }).registerMcpServer({ query: {}, body }),
  );
  if (output !== 'table') return io.write(objectText(servers, output));
  io.write(listText({ items: servers, columns, format: output }));
  for (const { server_id: id, problem, tools, findings, state } of servers) {
    if (problem !== null) io.tell(`${id}: the tools could not be listed: ${problem}\n`);
    else io.tell(`${id}: ${tools.length} tools, ${findings.length} findings (countersign mcp scan ${id})\n`);
    if (state === 'quarantined') io.tell(`Next: countersign mcp request ${id} --reason "what it is for"\n`);
  }
}

/** Throws CommandFailed for an invalid server, before any request. */
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

/**
 * Reads a document. A `server.json` has `name` and `remotes` or `packages` at its top level, and is wrapped in
 * `server_json`. All other formats already have a member with their own name.
 */
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

type Requesting = { name: string; reason: string; until?: string; output: Format };

async function request(connection: Connection, { name, reason, until, output }: Requesting, io: Io): Promise<void> {
  const { approval, url } = await requestApproval(connection, await serverCalled(connection, name), { reason, until });
  io.write(output === 'table' ? `${approval.approval_id} ${approval.state}\n` : objectText(approval, output));
  io.tell(`Decide: ${url}\n`);
}
