import type { Command } from 'commander';
import { getOps, type StandingFence } from '@countersign/contracts/control-plane';
import { CommandFailed } from '../command-failed.ts';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addStops(program: Command, io: Io): void {
  addList<StandingFence>(program, io, {
    name: 'stops',
    about: 'Stops around the workspace.',
    says: 'List the fences that the kernel holds to.',
    isWhole: true,
    columns: [
      { title: 'AROUND', of: ({ scope }) => scope },
      { title: 'STOP', of: ({ kind }) => kind },
      { title: 'EPOCH', of: ({ epoch }) => String(epoch) },
      { title: 'SINCE', of: ({ effective_at: at }) => at },
      { title: 'UNTIL', of: ({ expires_at: at }) => at },
      { title: 'WHY', of: ({ reason }) => reason },
    ],
    ifNone: 'Nothing is stopped.',
    read: async ({ ask }, { limit }) => {
      const { kernel, fences, more_fences: areMore } = (await ask({ getOps }).getOps()).body;
      if (kernel === 'unreachable')
        throw new CommandFailed('The kernel does not answer, so it is not known what is stopped', 2);
      if (areMore) io.tell('There are more than are shown.\n');
      return { body: { data: fences.slice(0, limit), next_cursor: null } };
    },
  });
}
