import type { Command } from 'commander';
import { listConsoleTools } from '@countersign/contracts/control-plane';
import type { RegisteredTool } from '@countersign/contracts/governance-kernel';
import { workspaceOf } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';
import { addServerDecisions } from './server-decisions.ts';
import { addScanAndDiff } from './server-review.ts';

/** `countersign tools`. Decisions are about servers, because an approval pins all tools that a server lists. */
export function addTools(program: Command, io: Io, end: (status: number) => void): void {
  const tools = addList<RegisteredTool>(program, io, {
    name: 'tools',
    about: 'Tools of MCP servers, with the state of their approval.',
    says: 'List tools, by name.',
    columns: [
      { title: 'TOOL', of: ({ tool }) => tool },
      { title: 'DEFINITION', of: ({ pin }) => pin },
      { title: 'BLOCKED', of: ({ blocked }) => (blocked ? 'blocked' : null) },
      { title: 'SERVER', of: ({ server_id: id, server_state: state }) => `${id} ${state}` },
      { title: 'EFFECT', of: ({ effect_level: effect }) => effect },
      { title: 'APPROVED', of: ({ pinned_hash: hash }) => hash },
    ],
    ifNone: 'No tools yet.',
    read: (connection, query) =>
      connection.ask({ listConsoleTools }).listConsoleTools({ params: { id: workspaceOf(connection) }, query }),
  });
  addScanAndDiff(tools, io);
  addServerDecisions(tools, io, end);
}
