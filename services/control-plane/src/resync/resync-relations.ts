import { setTimeout as delay } from 'node:timers/promises';
import { tellMembers } from '@countersign/contracts/gateway';
import { listSubjectRelations } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { tenantOf } from '../siblings/tenant-of.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { Looked } from './resync.ts';

/**
 * The members reach the kernel as a message. The kernel is polled up to `asksMax` times, with a pause of `betweenMs`
 * after each poll.
 */
const asksMax = 20;
const betweenMs = 150;

/**
 * Makes the gateway publish the members of the workspace again. The relation of the calling owner shows whether the
 * kernel has received them.
 */
export async function resyncRelations(
  context: Pick<Context, 'gateway' | 'kernel'>,
  caller: WorkspaceCaller,
): Promise<Looked> {
  const { workspaceId: workspace_id } = caller;
  const wasKnown = await isKnown(context, caller);
  const gateway = context.gateway.own({ tellMembers });
  await answerOf('gateway', () => gateway.tellMembers({ params: { workspace_id } }));
  const whole = { checked: 1, is_whole: true };
  if (wasKnown) return { ...whole, found: [] };
  for (let requestCount = 0; requestCount < asksMax; requestCount += 1) {
    if (await isKnown(context, caller))
      return {
        ...whole,
        found: [{ ref: workspace_id, state: 'repaired', note: 'The kernel has the members of the workspace again.' }],
      };
    await delay(betweenMs);
  }
  const note = 'The members were sent, but the kernel has not received them yet.';
  return { ...whole, found: [{ ref: workspace_id, state: 'unconfirmed', note }] };
}

async function isKnown(
  { kernel }: Pick<Context, 'kernel'>,
  { workspaceId, userId }: WorkspaceCaller,
): Promise<boolean> {
  const client = kernel.own({ listSubjectRelations });
  const subject = `user:${userId}`;
  const input = { params: { tenant: tenantOf(workspaceId) }, query: { subject } };
  const { data } = await answerOf('kernel', () => client.listSubjectRelations(input));
  return data.some(({ object, relation }) => object === `workspace:${workspaceId}` && relation === 'owner');
}
