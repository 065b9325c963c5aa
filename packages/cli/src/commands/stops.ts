import type { Command } from 'commander';
import { getOps, type StandingFence } from '@countersign/contracts/control-plane';
import { CommandFailed } from '../command-failed.ts';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addStops(program: Command, io: Io): void {
  addList<StandingFence>(program, io, {
    name: 'stops',
    about: 'Stops that affect the workspace.',
    says: 'List the fences that are in force.',
    isWhole: true,
    columns: [
      { title: 'AROUND', of: ({ scope }) => scope },
      { title: 'STOP', of: ({ kind }) => kind },
      { title: 'EPOCH', of: ({ epoch }) => String(epoch) },
      { title: 'SINCE', of: ({ effective_at: at }) => at },
      { title: 'UNTIL', of: ({ expires_at: at }) => at },
      { title: 'WHY', of: ({ reason }) => reason },
    ],
    ifNone: 'No stops in force.',
    read: async ({ ask }, { limit }) => {
      const { kernel, fences, more_fences: areMore } = (await ask({ getOps }).getOps()).body;
      if (kernel === 'unreachable')
        throw new CommandFailed('The kernel does not answer, so the current stops are unknown', 2);
      if (areMore || fences.length > limit) io.tell('More stops exist than this list shows.\n');
      return { body: { data: fences.slice(0, limit), next_cursor: null } };
    },
  });
}
