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
 * The message of a vote waits this long, since the request that cast the vote normally records it. If that request
 * died, the message records the vote.
 */
const votePauseMs = 2_000;
/**
 * A message may arrive before its run is parked. The worker parks the run just after the kernel answered. If the worker
 * died before that, another worker parks the run after the lease.
 */
const earlyPauseMs = 2_000;
const earlyDeliveriesMax = 60;
/**
 * An unavailable kernel is called at growing intervals for more than an hour, which is longer than most approval
 * requests live.
 */
const awayPauseMs = { each: 1_000, max: 10_000 };
const deliveriesMax = 400;

/**
 * Follows approvals that the kernel requests and resolves, and withdraws requests of ended runs there. Repetitions
 * have no effect, so no inbox is needed.
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
      const why = 'The approval request is not stored yet';
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

/** Repeats calls that the kernel did not answer. */
async function untilAnswered(act: () => Promise<void>, number: number) {
  try {
    await act();
    return ack;
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    // A request without a verified receipt cannot be shown, however often it is delivered.
    if (error.code === 'RECEIPT_UNVERIFIED') return reject(error.message);
    return retry(error.message, Math.min(awayPauseMs.max, awayPauseMs.each * number));
  }
}

function isPerson(principal: string | null): boolean {
  return UserId.safeParse(principal).success;
}
