import type { Command } from 'commander';
import { listBudgets, type Budget } from '@countersign/contracts/governance-kernel';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addBudgets(program: Command, io: Io): void {
  addList<Budget>(program, io, {
    name: 'budgets',
    about: 'Limits of what the workspace may use.',
    says: 'List budgets with what was used of their ceilings.',
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
    ifNone: 'The kernel holds no ceiling for it yet.',
    read: ({ ask }, query) => ask({ listBudgets }).listBudgets({ query }),
  });
}

function ofCeiling(used: number, limit: number | null): string | null {
  return limit === null ? null : `${used} of ${limit}`;
}
