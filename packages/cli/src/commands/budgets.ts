import type { Command } from 'commander';
import { listBudgets, type Budget } from '@countersign/contracts/governance-kernel';
import { configFrom } from '../config.ts';
import { connect } from '../connection/connection.ts';
import { readList } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import type { Column } from '../output/format.ts';
import { writeList } from '../output/write-list.ts';
import { addListOptions, type ListOptions } from './options.ts';

const columns: Column<Budget>[] = [
  { title: 'BUDGET', of: ({ budget_id: id }) => id },
  { title: 'FOR', of: ({ subject }) => subject },
  { title: 'WINDOW', of: ({ window }) => window },
  { title: 'CALLS', of: ({ used, tool_call_limit: limit }) => ofCeiling(used.tool_calls, limit) },
  { title: 'MINOR UNITS', of: ({ used, spend_limit_minor: limit }) => ofCeiling(used.spend_minor, limit) },
  { title: 'CURRENCY', of: ({ currency }) => currency },
  { title: 'BYTES OUT', of: ({ used, egress_limit_bytes: limit }) => ofCeiling(used.egress_bytes, limit) },
  { title: 'WRITES', of: ({ used, write_limit: limit }) => ofCeiling(used.writes, limit) },
];

export function addBudgets(program: Command, io: Io): void {
  const ls = program
    .command('budgets')
    .description('What the workspace may use.')
    .command('ls')
    .description('List budgets with what was used of their ceilings.');
  addListOptions(ls).action((options: ListOptions) => list(options, io));
}

async function list({ output: format, limit, cursor }: ListOptions, io: Io): Promise<void> {
  const { ask } = await connect(configFrom());
  const { listBudgets: read } = ask({ listBudgets });
  const listed = await readList({ limit, cursor }, (at) => read({ query: at }));
  writeList({ ...listed, columns, format, ifNone: 'The kernel holds no ceiling for it yet.' }, io);
}

function ofCeiling(used: number, limit: number | null): string | null {
  return limit === null ? null : `${used} of ${limit}`;
}
