import type { Command } from 'commander';
import { listConsoleTools } from '@countersign/contracts/control-plane';
import type { RegisteredTool } from '@countersign/contracts/governance-kernel';
import { workspaceOf } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addTools(program: Command, io: Io): void {
  addList<RegisteredTool>(program, io, {
    name: 'tools',
    about: 'Tools that MCP servers offer, and whether they are as they were approved.',
    says: 'List tools, by name.',
    columns: [
      { title: 'TOOL', of: ({ tool }) => tool },
      { title: 'DEFINITION', of: ({ pin }) => pin },
      { title: 'BLOCKED', of: ({ blocked }) => (blocked ? 'blocked' : null) },
      { title: 'SERVER', of: ({ server_id: id, server_state: state }) => `${id} ${state}` },
      { title: 'EFFECT', of: ({ effect_level: effect }) => effect },
      { title: 'APPROVED', of: ({ pinned_hash: hash }) => hash },
    ],
    ifNone: 'No server has shown a tool yet.',
    read: (connection, query) =>
      connection.ask({ listConsoleTools }).listConsoleTools({ params: { id: workspaceOf(connection) }, query }),
  });
}
