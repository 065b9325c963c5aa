import type { Command } from 'commander';
import { listBudgets, type Budget } from '@countersign/contracts/governance-kernel';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addBudgets(program: Command, io: Io): void {
  addList<Budget>(program, io, {
    name: 'budgets',
    about: 'Budgets of the workspace.',
    says: 'List budgets with their use and their ceilings.',
    columns: [
      { title: 'BUDGET', of: ({ budget_id: id }) => id },
      { title: 'FOR', of: ({ subject }) => subject },
      { title: 'WINDOW', of: ({ window }) => window },
      { title: 'CALLS', of: ({ used, tool_call_limit: limit }) => ofCeiling(used.tool_calls, limit) },
      { title: 'MINOR UNITS', of: ({ used, spend_limit_minor: limit }) => ofCeiling(used.spend_minor, limit) },
      { title: 'CURRENCY', of: ({ currency }) => currency },
      { title: 'BYTES OUT', of: ({ used, egress_limit_bytes: limit }) => ofCeiling(used.egress_bytes, limit) },
      { title: 'WRITES', of: ({ used, write_limit: limit }) => ofCeiling(used.writes, limit) },
    ],
    ifNone: 'No budgets yet.',
    read: ({ ask }, query) => ask({ listBudgets }).listBudgets({ query }),
  });
}

function ofCeiling(used: number, limit: number | null): string | null {
  return limit === null ? null : `${used} of ${limit}`;
}
