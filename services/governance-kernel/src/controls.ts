import { accessKeys } from './access-keys/access-keys.ts';
import { approvals } from './approvals/approvals.ts';
import { answers } from './boundary/answers.ts';
import { dispatches } from './boundary/dispatches.ts';
import { budgets } from './budgets/budgets.ts';
import { budgetTerms } from './budgets/budget-terms.ts';
import { fenceCommands, fences } from './fences/fences.ts';
import type { AnyControl } from './ledger/control.ts';
import { policyHeads } from './policy/policy-heads.ts';
import { toolBlocks } from './policy/tool-blocks.ts';
import { registry } from './registry/registry.ts';

/** Everything that decisions read or change, in the order in which its rows are locked; `kernel.append` writes in this order. */
export const controls: readonly AnyControl[] = [
  fenceCommands,
  fences,
  policyHeads,
  toolBlocks,
  accessKeys,
  registry,
  budgetTerms,
  budgets,
  approvals,
  dispatches,
  answers,
] as readonly unknown[] as readonly AnyControl[]; // each is handed its own keys and rows only
