import { setTimeout as delay } from 'node:timers/promises';
import { tellMembers } from '@countersign/contracts/gateway';
import { listSubjectRelations } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { tenantOf } from '../siblings/tenant-of.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { Looked } from './resync.ts';

/** The list goes by a message: so often is the kernel asked whether it has come, and so long is waited in between. */
const asksMax = 20;
const betweenMs = 150;

/**
 * Has the gateway send the members of the workspace again. The relation of the calling owner shows whether the kernel
 * has received it.
 */
export async function resyncRelations(context: Context, caller: WorkspaceCaller): Promise<Looked> {
  const { workspaceId: workspace_id } = caller;
  const wasKnown = await isKnown(context, caller);
  const gateway = context.gateway.own({ tellMembers });
  await answerOf('gateway', () => gateway.tellMembers({ params: { workspace_id } }));
  const whole = { checked: 1, is_whole: true };
  if (wasKnown) return { ...whole, found: [] };
  for (let asked = 0; asked < asksMax; asked += 1) {
    if (await isKnown(context, caller))
      return {
        ...whole,
        found: [{ ref: workspace_id, state: 'repaired', note: 'The kernel knows its members again.' }],
      };
    await delay(betweenMs);
  }
  const note = 'The members were told, and the kernel does not know them yet.';
  return { ...whole, found: [{ ref: workspace_id, state: 'unconfirmed', note }] };
}

async function isKnown({ kernel }: Context, { workspaceId, userId }: WorkspaceCaller): Promise<boolean> {
  const asked = kernel.own({ listSubjectRelations });
  const subject = `user:${userId}`;
  const input = { params: { tenant: tenantOf(workspaceId) }, query: { subject } };
  const { data } = await answerOf('kernel', () => asked.listSubjectRelations(input));
  return data.some(({ object, relation }) => object === `workspace:${workspaceId}` && relation === 'owner');
}
