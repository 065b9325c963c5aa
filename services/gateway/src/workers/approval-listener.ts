import { UserId } from '@countersign/contracts';
import { kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import { ack, retry } from '@countersign/messaging';
import { followKernel } from '../approvals/follow-kernel.ts';
import type { Context } from '../context.ts';
import { gatewayQueues } from '../queues.ts';
import { messagingTransaction } from '../store/messages.ts';

/**
 * Whoever votes through the gateway has it recorded by the request that carried the vote. The message is for the case that this
 * request did not live to record it.
 */
const votePauseMs = 2_000;
/** Parking is one transaction after the kernel's answer; where the worker died in between, another one parks after its lease. */
const earlyPauseMs = 2_000;
const deliveriesMax = 60;

/** Hears of approvals that were decided in the kernel. To apply one twice changes nothing, so no inbox is needed. */
export function startApprovalListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume({
    queue: gatewayQueues(context.config.bus.exchange).approvals,
    events: [kernelApprovalResolved],
    transaction: messagingTransaction(context.transaction),
    acts: 'outside-transaction',
    maxDeliveries: deliveriesMax,
    handler: async ({ data }, { number }) => {
      if (number === 1 && isPerson(data.resolved_by)) return retry('A person is resolving it here', votePauseMs);
      const followed = await followKernel(context, data);
      return followed === 'early' ? retry('The run that asked is still being parked', earlyPauseMs) : ack;
    },
  });
}

function isPerson(principal: string | null): boolean {
  return UserId.safeParse(principal).success;
}
