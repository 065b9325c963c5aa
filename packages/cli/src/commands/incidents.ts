import type { Command } from 'commander';
import { listIncidents, type IncidentSummary } from '@countersign/contracts/control-plane';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addIncidents(program: Command, io: Io): void {
  addList<IncidentSummary>(program, io, {
    name: 'incidents',
    about: 'Incidents of the workspace.',
    says: 'List incidents, newest first.',
    filters: { '--state <state>': 'in this state' },
    columns: [
      { title: 'INCIDENT', of: ({ incident_id: id }) => id },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'SEVERITY', of: ({ severity }) => severity },
      { title: 'CATEGORY', of: ({ category }) => category },
      { title: 'SEEN', of: ({ recurrence }) => String(recurrence) },
      { title: 'LAST SEEN', of: ({ last_seen_at: at }) => at },
      { title: 'TITLE', of: ({ title }) => title },
    ],
    ifNone: 'No matching incidents.',
    read: ({ ask }, query) => ask({ listIncidents }).listIncidents({ query }),
  });
}
