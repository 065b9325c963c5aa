import { getSpendSummary } from '@countersign/contracts/commercial-gateway';
import { listBudgets } from '@countersign/contracts/governance-kernel';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

/** The kernel computes the summary, because this service counts no spend. */
export const getSpendSummaryRoute = ({ asCaller }: Pick<Context, 'asCaller'>) =>
  handleWorkspace(getSpendSummary)(({ query, caller, req, idempotency }) => {
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => asCaller(caller.delegation, { listBudgets }).listBudgets({ query, headers }));
  });
