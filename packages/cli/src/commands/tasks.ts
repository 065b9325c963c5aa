import type { Command } from 'commander';
import { listTasks, type Task } from '@countersign/contracts/gateway';
import { configFrom } from '../config.ts';
import { connect } from '../connection/connection.ts';
import { readList } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import type { Column } from '../output/format.ts';
import { writeList } from '../output/write-list.ts';
import { addListOptions, type ListOptions } from './options.ts';

const columns: Column<Task>[] = [
  { title: 'TASK', of: ({ id }) => id },
  { title: 'STATE', of: ({ status }) => status },
  { title: 'CHANGED', of: ({ updatedAt }) => updatedAt },
  { title: 'TITLE', of: ({ title }) => title },
];

export function addTasks(program: Command, io: Io): void {
  const ls = program
    .command('tasks')
    .description('What agents were asked to do.')
    .command('ls')
    .description('List tasks, newest first.')
    .option('--status <state>', 'in this state');
  addListOptions(ls).action((options: ListOptions) => list(options, io));
}

async function list({ output: format, limit, cursor, ...filters }: ListOptions, io: Io): Promise<void> {
  const { ask } = await connect(configFrom());
  const { listTasks: read } = ask({ listTasks });
  const query = (at: object) => ({ ...filters, ...at }) as never; // the server reads them strictly
  const listed = await readList({ limit, cursor }, (at) => read({ query: query(at) }));
  writeList({ ...listed, columns, format, ifNone: 'Nothing was asked of an agent here yet.' }, io);
}
