import type { Command } from 'commander';
import { listEvidenceHandles, type HandleSummary } from '@countersign/contracts/control-plane';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addHandles(program: Command, io: Io): void {
  addList<HandleSummary>(program, io, {
    name: 'handles',
    about: 'Addresses under which evidence of the workspace can be opened.',
    says: 'List handles that have not ended, newest first.',
    columns: [
      { title: 'HANDLE', of: ({ handle }) => handle },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'OF', of: ({ object_id: id }) => id },
      { title: 'BY', of: ({ created_by: by }) => by },
      { title: 'UNTIL', of: ({ expires_at: at }) => at },
      { title: 'ADDRESS', of: ({ url }) => url },
    ],
    ifNone: 'No handles yet.',
    read: ({ ask }, query) => ask({ listEvidenceHandles }).listEvidenceHandles({ query }),
  });
}
