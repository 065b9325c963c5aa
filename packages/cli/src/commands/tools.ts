import type { Command } from 'commander';
import { listConsoleTools } from '@countersign/contracts/control-plane';
import type { RegisteredTool } from '@countersign/contracts/governance-kernel';
import { configFrom } from '../config.ts';
import { connect, workspaceOf } from '../connection/connection.ts';
import { readList } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import type { Column } from '../output/format.ts';
import { writeList } from '../output/write-list.ts';
import { addListOptions, type ListOptions } from './options.ts';

const columns: Column<RegisteredTool>[] = [
  { title: 'TOOL', of: ({ tool }) => tool },
  { title: 'DEFINITION', of: ({ pin }) => pin },
  { title: 'BLOCKED', of: ({ blocked }) => (blocked ? 'blocked' : null) },
  { title: 'SERVER', of: ({ server_id: id, server_state: state }) => `${id} ${state}` },
  { title: 'EFFECT', of: ({ annotated_effect: effect }) => effect },
  { title: 'APPROVED', of: ({ pinned_hash: hash }) => hash },
];

export function addTools(program: Command, io: Io): void {
  const ls = program
    .command('tools')
    .description('What MCP servers offer, and whether it is what was approved.')
    .command('ls')
    .description('List tools, by name.');
  addListOptions(ls).action((options: ListOptions) => list(options, io));
}

async function list({ output: format, limit, cursor }: ListOptions, io: Io): Promise<void> {
  const connection = await connect(configFrom());
  const { listConsoleTools: read } = connection.ask({ listConsoleTools });
  const params = { id: workspaceOf(connection) };
  const listed = await readList({ limit, cursor }, (query) => read({ params, query }));
  writeList({ ...listed, columns, format, ifNone: 'No server has shown a tool yet.' }, io);
}
