import type { Command } from 'commander';
import { listTasks, type Task } from '@countersign/contracts/gateway';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addTasks(program: Command, io: Io): void {
  addList<Task>(program, io, {
    name: 'tasks',
    about: 'Tasks of agents.',
    says: 'List tasks, newest first.',
    filters: { '--status <state>': 'in this state' },
    columns: [
      { title: 'TASK', of: ({ id }) => id },
      { title: 'STATE', of: ({ status }) => status },
      { title: 'CHANGED', of: ({ updatedAt }) => updatedAt },
      { title: 'TITLE', of: ({ title }) => title },
    ],
    ifNone: 'No tasks yet.',
    read: ({ ask }, query) => ask({ listTasks }).listTasks({ query }),
  });
}
