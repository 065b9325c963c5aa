import type { Command } from 'commander';
import { listAudit, type AuditEntry } from '@countersign/contracts/gateway';
import { configFrom } from '../config.ts';
import { connect } from '../connection/connection.ts';
import { readList } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import type { Column } from '../output/format.ts';
import { writeList } from '../output/write-list.ts';
import { addListOptions, type ListOptions } from './options.ts';

const columns: Column<AuditEntry>[] = [
  { title: 'NO', of: ({ seq }) => String(seq) },
  { title: 'AT', of: ({ createdAt }) => createdAt },
  { title: 'VERDICT', of: ({ verdict }) => verdict },
  { title: 'ACTION', of: ({ action }) => action },
  { title: 'WHO', of: ({ actor }) => actor },
  { title: 'WHY', of: ({ reason }) => reason },
];

export function addAudit(program: Command, io: Io): void {
  const ls = program
    .command('audit')
    .description('Who did what in the workspace.')
    .command('ls')
    .description('List entries of the audit log, newest first.')
    .option('--verdict <verdict>', 'of this verdict')
    .option('--action <name>', 'of this action')
    .option('--actor <principal>', 'of this person, key or agent');
  addListOptions(ls).action((options: ListOptions) => list(options, io));
}

async function list({ output: format, limit, cursor, ...filters }: ListOptions, io: Io): Promise<void> {
  const { ask } = await connect(configFrom());
  const { listAudit: read } = ask({ listAudit });
  const query = (at: object) => ({ ...filters, ...at }) as never; // the server reads them strictly
  const listed = await readList({ limit, cursor }, (at) => read({ query: query(at) }));
  writeList({ ...listed, columns, format, ifNone: 'No entry fits.' }, io);
}
