import { getSpendSummary } from '@countersign/contracts/commercial-gateway';
import { listBudgets } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleBasic } from '../handle.ts';
import { answerOf } from '../siblings/answer-of.ts';

/** The kernel answers the caller: this service counts no spend. */
export const getSpendSummaryRoute = ({ siblings }: Pick<Context, 'siblings'>) =>
  handleBasic(getSpendSummary)(({ query, caller }) => {
    const kernel = siblings.kernel.as(caller.assertion, { listBudgets });
    return answerOf('kernel', () => kernel.listBudgets({ query }));
  });
