import type { ApprovalId } from '@countersign/contracts';
import { listApprovals } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { KeyedCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';

/** Few approvals are for several uses; beyond this number, none is reported as used up. */
const askedMax = 200;

/** The used approvals that have no use left. */
export async function findSpent(
  { kernel }: Pick<Context, 'kernel'>,
  used: readonly ApprovalId[],
  { assertion }: Pick<KeyedCaller, 'assertion'>,
): Promise<Set<ApprovalId>> {
  const asked = kernel.as(assertion, { listApprovals });
  const spent = new Set<ApprovalId>();
  for (const approval_id of used.slice(0, askedMax)) {
    const { data } = await answerOf('kernel', () => asked.listApprovals({ query: { approval_id } }));
    if (data[0] !== undefined && data[0].state !== 'approved' && data[0].state !== 'pending') spent.add(approval_id);
  }
  return spent;
}
