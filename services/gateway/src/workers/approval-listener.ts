import { UserId } from '@countersign/contracts';
import { runEnded } from '@countersign/contracts/gateway';
import { kernelApprovalRequested, kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import { ack, later, messagingTransaction, reject, retry } from '@countersign/messaging';
import { followKernel } from '../approvals/follow-kernel.ts';
import { recordQuestion } from '../approvals/record-question.ts';
import { withdrawLateQuestion, withdrawQuestions } from '../approvals/withdraw-questions.ts';
import type { Context } from '../context.ts';
import { memberChangeSession } from '../governance/kernel.ts';
import { KernelError } from '../governance/kernel-error.ts';
import { gatewayQueues } from '../queues.ts';
import { markDecidersDue } from '../store/provisioned-people.ts';

/**
 * A vote through the gateway is recorded by the request that carried it. The message is for the case that this request
 * did not live to record it.
 */
const votePauseMs = 2_000;
/** Parking is one transaction after the kernel's answer; where the worker died in between, another one parks after its lease. */
const earlyPauseMs = 2_000;
const earlyDeliveriesMax = 60;
/** A kernel that is away is asked less and less often, and all in all for more than an hour: longer than most questions live. */
const awayPauseMs = { each: 1_000, max: 10_000 };
const deliveriesMax = 400;

/**
 * Follows approvals that the kernel requests and resolves, and withdraws there what an ended run requested. Each of them can be repeated
 * without effect, so no inbox is needed.
 */
export function startApprovalListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume({
    queue: gatewayQueues(context.config.bus.exchange).approvals,
    events: [kernelApprovalRequested, kernelApprovalResolved, runEnded],
    transaction: messagingTransaction(context.transaction),
    acts: 'outside-transaction',
    maxDeliveries: deliveriesMax,
    handler: async (event, { number }) => {
      if (event.type === kernelApprovalRequested.type) return hearQuestion(context, event.data, number);
      if (event.type === runEnded.type) return untilAnswered(() => withdrawQuestions(context, event.data), number);
      const { data } = event;
      if (data.session_id === memberChangeSession && data.state === 'approved')
        await context.transaction((tx) => markDecidersDue(tx, data.tenant_id, context.now()));
      if (number === 1 && isPerson(data.resolved_by)) return later(votePauseMs);
      const followed = await followKernel(context, data);
      if (followed === 'followed') return ack;
      const why = 'The question is still being recorded';
      return number < earlyDeliveriesMax ? retry(why, earlyPauseMs) : reject(why);
    },
  });
}

function hearQuestion(context: Context, data: Parameters<typeof recordQuestion>[1], number: number) {
  return untilAnswered(async () => {
    await recordQuestion(context, data);
    await withdrawLateQuestion(context, data);
  }, number);
}

/** Repeats what the kernel did not answer. */
async function untilAnswered(act: () => Promise<void>, number: number) {
  try {
    await act();
    return ack;
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    // A question without a verified receipt cannot be shown, however often it is sent.
    if (error.code === 'RECEIPT_UNVERIFIED') return reject(error.message);
    return retry(error.message, Math.min(awayPauseMs.max, awayPauseMs.each * number));
  }
}

function isPerson(principal: string | null): boolean {
  return UserId.safeParse(principal).success;
}
