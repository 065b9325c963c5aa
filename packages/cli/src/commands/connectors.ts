import type { Command } from 'commander';
import {
  disableConnector,
  getConnector,
  installConnector,
  listConnectors,
  listInstalls,
  listShims,
  type Connector,
  type ConnectorInstall,
  type Shim,
} from '@countersign/contracts/control-plane';
import { CommandFailed } from '../command-failed.ts';
import { answered, type Connection } from '../connection/connection.ts';
import { readList } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import { listText, objectText, type Column, type Format } from '../output/format.ts';
import { writeList } from '../output/write-list.ts';
import { headersOf } from './header-options.ts';
import { addList } from './list-command.ts';
import { addListOptions, formatOf, withOutput, type ListOptions, type OutputOptions } from './options.ts';
import { addServerApproval } from './server-decisions.ts';
import { addScanAndDiff, serverIdIn, withServers } from './server-review.ts';

/** A catalogue has at most 500 connectors, and installs of removed ones stay. */
const installsMax = 10_000;

const routes = { disableConnector, getConnector, installConnector, listConnectors, listInstalls, listShims };

const installColumns: Column<ConnectorInstall>[] = [
  { title: 'CONNECTOR', of: ({ connector_id: id }) => id },
  { title: 'STATE', of: ({ state, disabled_at: at }) => (at === null ? state : 'disabled') },
  { title: 'VERSION', of: ({ version }) => version },
  { title: 'TOOLS', of: ({ drift }) => String(drift.length) },
  { title: 'CHANGED', of: ({ drift }) => String(drift.filter(({ status }) => status !== 'in_sync').length) },
  { title: 'INSTALLED', of: ({ installed_at: at }) => at },
  { title: 'INSTALL', of: ({ install_id: id }) => id },
];

/** `countersign connectors`. A connector has the name of its server, so scans and approvals are those of the server. */
export function addConnectors(program: Command, io: Io, end: (status: number) => void): void {
  const connectors = addList<Connector>(program, io, {
    name: 'connectors',
    about: 'Connectors: MCP servers from the signed catalogue of the installation.',
    says: 'List the connectors of the catalogue, by name. Exit 1 if the catalogue was altered.',
    columns: [
      { title: 'CONNECTOR', of: ({ connector_id: id }) => id },
      { title: 'VERSION', of: ({ version }) => version },
      { title: 'INSTALLED', of: ({ install_id: id }) => id },
      { title: 'NEEDS', of: ({ headers }) => namesOf(headers.filter(({ is_required: isRequired }) => isRequired)) },
      { title: 'TITLE', of: ({ title }) => title },
    ],
    ifNone: 'The catalogue is empty. The operator signs one with make catalogue.',
    read: (connection, query) => connection.ask(routes).listConnectors({ query }),
  });
  addInstalled(connectors, io);
  addShow(connectors, io);
  addInstall(connectors, io);
  addScanAndDiff(connectors, io);
  // An operator or owner may have given the name of a connector to another server.
  addServerApproval(connectors, io, {
    end,
    check: async (connection, name) => void (await installCalled(connection, name)),
  });
  addDisable(connectors, io);
  addShims(connectors, io);
}

function addInstalled(group: Command, io: Io): void {
  addListOptions(group.command('installed'))
    .description('List the installed connectors with the state of their tools, including disabled ones.')
    .action(({ output: format, limit, cursor }: ListOptions) =>
      withServers(io, async (connection) => {
        const read = (query: { limit: number }) => connection.ask(routes).listInstalls({ query });
        const listed = await readList(connection, { limit, cursor }, read);
        const ifNone = 'No connectors are installed. Install one: countersign connectors install NAME';
        writeList({ ...listed, columns: installColumns, format, ifNone }, io);
      }),
    );
}

function addShow(group: Command, io: Io): void {
  withOutput(group.command('show'))
    .description('Show a connector of the catalogue with its signed server.json.')
    .argument('<name>')
    .action((name: string, options: OutputOptions) =>
      withServers(io, async (connection) =>
        io.write(objectText(await connectorCalled(connection, name), formatOf(options))),
      ),
    );
}

type Installing = OutputOptions & { atVersion?: string; header?: string[]; headerEnv?: string[] };

function addInstall(group: Command, io: Io): void {
  withOutput(group.command('install'))
    .description('Install a connector in quarantine. Until it is approved, its tools are visible but cannot be called.')
    .argument('<name>')
    .option('--at-version <version>', 'install only this version, and refuse if the catalogue has another one')
    .option('--header <name: value...>', 'a header that the server accepts')
    .option('--header-env <name=VARIABLE...>', 'a header whose value is in a variable, as for secrets')
    .action((name: string, { atVersion: version, header, headerEnv, ...options }: Installing) => {
      const headers = headersOf({ header, headerEnv }, io.env);
      return withServers(io, (connection) => install(connection, { name, version, headers }, formatOf(options), io));
    });
}

type Wanted = { name: string; version: string | undefined; headers: Record<string, string> };

async function install(connection: Connection, { name, version, headers }: Wanted, format: Format, io: Io) {
  const { version: listed, headers: accepted } = await connectorCalled(connection, name);
  const missing = accepted.filter(({ name: header, is_required: needed }) => needed && !hasHeader(headers, header));
  if (missing.length > 0)
    throw new CommandFailed(`${name} needs ${namesOf(missing)}. Set it with --header-env NAME=VARIABLE`, 2);
  const installed = await answered(connection, () =>
    connection
      .ask(routes)
      .installConnector({ params: { connector_id: name }, body: { version: version ?? listed, headers } }),
  );
  writeInstall(installed, format, io);
  if (installed.definitions_hash === null)
    io.tell(`The tools of ${name} could not be listed yet: countersign connectors scan ${name}\n`);
  io.tell(`Next: countersign connectors approve ${name} --reason "what it is for"\n`);
}

function hasHeader(headers: Record<string, string>, wanted: string): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === wanted.toLowerCase());
}

function addDisable(group: Command, io: Io): void {
  withOutput(group.command('disable'))
    .description('Deny all calls to the tools of a connector, and end the credentials of its clients.')
    .argument('<name>')
    .requiredOption('--reason <text>', 'the reason, recorded in the audit log')
    .action((name: string, { reason, ...options }: OutputOptions & { reason: string }) =>
      withServers(io, async (connection) => {
        const disabled = await answered(connection, () =>
          connection.ask(routes).disableConnector({ params: { connector_id: name }, body: { reason } }),
        );
        writeInstall(disabled, formatOf(options), io);
        io.tell('All further calls to its tools are denied. To use it again, install and approve it again.\n');
      }),
    );
}

function addShims(group: Command, io: Io): void {
  addListOptions(group.command('shims').argument('<name>'))
    .description('List the credentials of clients for an installed connector, newest first. For owners.')
    .action((name: string, { output: format, limit, cursor }: ListOptions) =>
      withServers(io, async (connection) => {
        const { install_id: id } = await installCalled(connection, name);
        const read = (query: { limit: number }) =>
          connection.ask(routes).listShims({ params: { install_id: id }, query });
        const listed = await readList(connection, { limit, cursor }, read);
        writeList({ ...listed, columns: shimColumns, format, ifNone: 'No credentials of clients yet.' }, io);
      }),
    );
}

const shimColumns: Column<Shim>[] = [
  { title: 'SHIM', of: ({ shim_id: id }) => id },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'ENDS', of: ({ revoked_at: at, expires_at: end }) => at ?? end },
  { title: 'PRINCIPAL', of: ({ principal_id: id }) => id },
  { title: 'CLIENT', of: ({ client }) => client },
];

async function connectorCalled(connection: Connection, name: string) {
  return await answered(connection, () => connection.ask(routes).getConnector({ params: { connector_id: name } }));
}

/** The enabled install of a connector. Throws CommandFailed when there is none, or when the kernel has no server of it. */
async function installCalled(connection: Connection, name: string): Promise<ConnectorInstall> {
  const { items } = await readList(connection, { limit: installsMax }, (query) =>
    connection.ask(routes).listInstalls({ query }),
  );
  const install = items.find(({ connector_id: id }) => id === serverIdIn(name));
  if (install === undefined || install.disabled_at !== null || install.state === 'unregistered')
    throw new CommandFailed(`${name} is not installed. Install it: countersign connectors install ${name}`, 1);
  return install;
}

function writeInstall(installed: ConnectorInstall, format: Format, io: Io): void {
  io.write(
    format === 'table'
      ? listText({ items: [installed], columns: installColumns, format })
      : objectText(installed, format),
  );
}

function namesOf(headers: Connector['headers']): string | null {
  return headers.map(({ name }) => name).join(', ') || null;
}
