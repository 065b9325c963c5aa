import type { ApprovalId } from '@countersign/contracts';
import { listApprovals } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { KeyedCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';

/** The most approvals that are looked up. All further approvals count as having uses left. */
const askedMax = 200;

/** The used approvals that permit no further use: their state at the kernel is neither `approved` nor `pending`. */
export async function findSpent(
  { kernel }: Pick<Context, 'kernel'>,
  used: readonly ApprovalId[],
  { assertion }: Pick<KeyedCaller, 'assertion'>,
): Promise<Set<ApprovalId>> {
  const client = kernel.as(assertion, { listApprovals });
  const spent = new Set<ApprovalId>();
  for (const approval_id of used.slice(0, askedMax)) {
    const { data } = await answerOf('kernel', () => client.listApprovals({ query: { approval_id } }));
    if (data[0] !== undefined && data[0].state !== 'approved' && data[0].state !== 'pending') spent.add(approval_id);
  }
  return spent;
}
